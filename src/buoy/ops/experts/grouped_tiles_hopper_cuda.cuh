// Tiles of the products of experts on Hopper: what lies in shared memory, and which tile a block works at.
// Rows of the weight are the rows of a tile (256 of them) and the pairs of an expert its columns, since WGMMA
// is free in the number of columns alone.

#pragma once

#include <algorithm>

#include "buoy/ops/device/wgmma_cuda.cuh"
#include "buoy/ops/experts/expert_tiles.h"
#include "buoy/ops/experts/grouped_product_cuda.cuh"

namespace buoy::ops {

inline constexpr int kGroupedThreads = 384, kGroupedConsumers = 2;  // warpgroups, behind that of producers
inline constexpr int kWeightRows = 256, kTileInputs = 64;

struct GroupedHopperArgs {
  CUtensorMap weight;
  CUtensorMap input,
      eight_inputs;            // boxes of kInputBox and of eight pairs, where they stand one after the other
  const std::uint16_t* rows;   // of the input, where they are gathered
  const std::int32_t* source;  // the pair that stands here: of row source / chosen
  int chosen;
  const std::int32_t* first;  // [experts + 1]
  int experts, inputs, weight_rows, weight_tiles, input_tiles;
  int columns;  // of the results
  std::uint16_t* results;
};

// What a block works at: a tile of one expert.
struct alignas(16) GroupedWork {
  int weight_row;   // of the weights of all experts
  int weight_tile;  // of the expert
  int row;          // of the sorted pairs
  int pairs;        // from there on; may be none for the second block of a cluster
};

struct GroupedTables {
  std::int32_t first[kMostExperts + 1];
  std::uint16_t order[kMostExperts];       // experts as their tiles come
  std::uint16_t before[kMostExperts + 1];  // what counts tiles of pairs before those of place i in that order
};

// For tiles of at most kMost pairs.
template <int kMost>
struct GroupedStorage {
  static constexpr int kWeight = kWeightRows * kTileInputs, kInput = kMost * kTileInputs;
  static constexpr int kInputBox = std::min(64, kMost);
  static constexpr int kResults = 1024;  // of a warp, on their way out
  static constexpr int kWarps = 4 * kGroupedConsumers, kMostStages = 6;
  static constexpr int kBesides = 2 * kWarps * kResults + static_cast<int>(sizeof(GroupedTables)) +
                                  kMostStages * (16 + static_cast<int>(sizeof(GroupedWork))) + 64;
  static constexpr int kStages = std::min(kMostStages, (227 * 1024 - kBesides) / (2 * (kWeight + kInput)));
  // Large tiles differ in what they cost: those of the fullest experts come first.
  static constexpr bool kLargestFirst = kMost > 64;
  std::uint16_t weight[kStages][kWeight];
  std::uint16_t input[kStages][kInput];
  std::uint16_t results[kWarps][kResults];
  GroupedWork work[kStages];  // where a tile begins: which
  std::uint64_t full[kStages], empty[kStages];
  GroupedTables tables;
};

#ifdef BUOY_HAS_WGMMA

// Fills the tables. For all threads of a block; shared memory for results is overwritten.
template <int kMost, int kCluster>
__device__ void plan_tiles(GroupedStorage<kMost>& smem, const GroupedHopperArgs& args) {
  GroupedTables& tables = smem.tables;
  const int experts = args.experts;
  for (int e = threadIdx.x; e <= experts; e += kGroupedThreads) tables.first[e] = args.first[e];
  __syncthreads();
  const auto pairs_of = [&](int e) { return tables.first[e + 1] - tables.first[e]; };
  if constexpr (GroupedStorage<kMost>::kLargestFirst) {
    static_assert(kMostExperts <= 512 && sizeof smem.results >= 4 * kMostExperts);
    auto* keys = reinterpret_cast<std::uint32_t*>(smem.results);  // no two alike
    const int padded = (experts + 3) / 4 * 4;
    for (int e = threadIdx.x; e < padded; e += kGroupedThreads)
      keys[e] =
          e < experts ? static_cast<std::uint32_t>(min(pairs_of(e), (1 << 22) - 1) << 9 | (511 - e)) : 0;
    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += kGroupedThreads) {
      const std::uint32_t own = keys[e];
      int place = 0;
#pragma unroll 4
      for (int f = 0; f < padded; f += 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(keys + f);
        place += (four.x > own) + (four.y > own) + (four.z > own) + (four.w > own);
      }
      tables.order[place] = static_cast<std::uint16_t>(e);
    }
  } else {
    for (int e = threadIdx.x; e < experts; e += kGroupedThreads)
      tables.order[e] = static_cast<std::uint16_t>(e);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    count_before(tables.before, experts, [&](int place) {
      return share_expert(pairs_of(tables.order[place]), kMost, kCluster).clusters;
    });
  }
  __syncthreads();
}

// The tiles of a cluster, one after the other, as one of its blocks sees them.
template <int kMost, int kCluster>
class GroupedTiles {
 public:
  __device__ GroupedTiles(const GroupedStorage<kMost>& smem, const GroupedHopperArgs& args)
      : tables_(smem.tables), args_(args) {}

  // How many they are.
  __device__ int turns() const { return turns_of(all(), cluster(), clusters()); }

  // False where there is none left.
  __device__ bool next(GroupedWork& work) {
    const int tile = tile_of_turn(turn_++, cluster(), clusters());
    if (tile >= all()) return false;
    const int part = tile / args_.weight_tiles, place = place_of_tile(tables_.before, args_.experts, part);
    const int expert = tables_.order[place], begin = tables_.first[expert], end = tables_.first[expert + 1];
    const int width = share_expert(end - begin, kMost, kCluster).width;
    const int block = (part - tables_.before[place]) * kCluster + static_cast<int>(blockIdx.x) % kCluster;
    work.weight_tile = tile % args_.weight_tiles;
    work.weight_row = expert * args_.weight_rows + work.weight_tile * kWeightRows;
    work.row = begin + block * width;
    work.pairs = max(0, min(width, end - work.row));
    return true;
  }

 private:
  __device__ int cluster() const { return static_cast<int>(blockIdx.x) / kCluster; }
  __device__ int clusters() const { return static_cast<int>(gridDim.x) / kCluster; }
  __device__ int all() const { return tables_.before[args_.experts] * args_.weight_tiles; }

  const GroupedTables& tables_;
  const GroupedHopperArgs& args_;
  int turn_ = 0;
};

// Where a pipeline stands: stages come round again, and each round flips the barriers' phase.
template <int kStages>
struct GroupedPlace {
  int stage = 0;
  std::uint32_t phase = 0;
  __device__ void advance() {
    if (++stage == kStages) stage = 0, phase ^= 1;
  }
};

#endif

}  // namespace buoy::ops

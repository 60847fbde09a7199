// The producers of the products of experts on Hopper: one thread brings weights, and rows of the input that
// stand one after the other, by TMA; three warps gather rows that do not.

#pragma once

#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/experts/grouped_tiles_hopper_cuda.cuh"

namespace buoy::ops {

#ifdef BUOY_HAS_WGMMA

inline constexpr int kGatherWarps = 3;

// Steps of all tiles, one after the other: a tile, and its inputs from kTileInputs * k on.
template <int kMost, int kCluster>
struct GroupedSteps {
  __device__ GroupedSteps(const GroupedStorage<kMost>& smem, const GroupedHopperArgs& args)
      : tiles(smem, args), steps(args.input_tiles), more(tiles.next(work)) {}
  __device__ void advance() {
    if (++k < steps) return;
    k = 0;
    more = tiles.next(work);
  }

  GroupedTiles<kMost, kCluster> tiles;
  GroupedWork work;
  int k = 0, steps;
  bool more;
};

// What one thread brings by TMA: weights, and rows of the input that stand one after the other.
template <int kMost, int kCluster, bool kGathers>
struct TmaLoads {
  using Storage = GroupedStorage<kMost>;
  // Weights need not stay in the L2 cache where one cluster has all pairs of nearly every expert. Of down
  // with two blocks to a cluster (a tenth was read again), and where pairs are few, saying so was slower
  // or brought nothing.
  static constexpr bool kReadOnce = kMost > 64 && (kCluster == 1 || kGathers);

  // Says how much comes to the stage, too.
  __device__ void weights(const GroupedWork& work, int k, int stage) const {
    constexpr int kPart = kWeightRows / kCluster;
    if (k == 0) smem.work[stage] = work;
    mbarrier_arrive_expect_tx(&smem.full[stage],
                              2 * (Storage::kWeight + (kGathers ? 0 : rows(work) * kTileInputs)));
    if constexpr (kCluster == 2) {
      const int rank = static_cast<int>(cluster_rank());
      void* const part = smem.weight[stage] + rank * kPart * kTileInputs;
      const int x = k * kTileInputs, y = work.weight_row + rank * kPart;
      if constexpr (kReadOnce) {
        tma_load_multicast_by(read_once, 0b11, part, &args.weight, &smem.full[stage], x, y);
      } else {
        tma_load_multicast(0b11, part, &args.weight, &smem.full[stage], x, y);
      }
    } else if constexpr (kReadOnce) {
      tma_load_by(read_once, smem.weight[stage], &args.weight, &smem.full[stage], k * kTileInputs,
                  work.weight_row);
    } else {
      tma_load(smem.weight[stage], &args.weight, &smem.full[stage], k * kTileInputs, work.weight_row);
    }
  }
  __device__ void inputs(const GroupedWork& work, int k, int stage) const {
    if (kGathers) return;
    constexpr int kBox = Storage::kInputBox;
    const auto load = [&](const CUtensorMap& map, int row) {
      tma_load(smem.input[stage] + row * kTileInputs, &map, &smem.full[stage], k * kTileInputs,
               work.row + row);
    };
    const int all = rows(work);
    int row = 0;
    for (; row + kBox <= all; row += kBox) load(args.input, row);
    for (; row < all; row += 8) load(args.eight_inputs, row);
  }
  __device__ static int rows(const GroupedWork& work) { return (work.pairs + 7) / 8 * 8; }

  GroupedStorage<kMost>& smem;
  const GroupedHopperArgs& args;
  std::uint64_t read_once = kReadOnce ? read_once_policy() : 0;
};

// For one thread. kEarly: the kernel in front still forms the input, and the first weights come meanwhile.
template <int kMost, int kCluster, bool kGathers, bool kEarly>
__device__ void load_tiles(GroupedStorage<kMost>& smem, const GroupedHopperArgs& args) {
  constexpr int kStages = GroupedStorage<kMost>::kStages;
  const TmaLoads<kMost, kCluster, kGathers> load{smem, args};
  GroupedSteps<kMost, kCluster> now(smem, args);
  GroupedPlace<kStages> at;
  if constexpr (kEarly) {
    auto ahead = now;
    for (int stage = 0; stage < kStages && ahead.more; ++stage, ahead.advance())
      load.weights(ahead.work, ahead.k, stage);
    wait_for_prior_grid();
    for (int stage = 0; stage < kStages && now.more; ++stage, now.advance(), at.advance())
      load.inputs(now.work, now.k, stage);
  }
  for (; now.more; now.advance(), at.advance()) {
    mbarrier_wait(&smem.empty[at.stage], at.phase ^ 1);
    load.weights(now.work, now.k, at.stage);
    load.inputs(now.work, now.k, at.stage);
  }
}

// The rows of the input that a lane of a gathering warp helps to copy: it has a piece of 16 bytes of one row
// in eight lanes, four rows to a warp, warps in turn. Behind the last pair stands its row again.
template <int kMost>
struct GatheredRows {
  static constexpr int kTurn = 4 * kGatherWarps, kOwn = (kMost + kTurn - 1) / kTurn;

  __device__ void load(const GroupedHopperArgs& args, const GroupedWork& work, int first) {
    if (work.pairs == 0) return;
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
      number[i] =
          static_cast<std::uint32_t>(__ldg(args.source + work.row + min(first + kTurn * i, work.pairs - 1)));
  }
  // They were numbers of pairs, and become pieces before the row.
  __device__ void find(const GroupedHopperArgs& args) {
    const auto chosen = static_cast<std::uint32_t>(args.chosen),
               pieces = static_cast<std::uint32_t>(args.inputs) / 8;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) number[i] = number[i] / chosen * pieces;
  }

  std::uint32_t number[kOwn] = {};
};

// For each of kGatherWarps warps, which share the rows of every step and never wait for what they copy: its
// arrival is the barrier's affair.
template <int kMost, int kCluster>
__device__ void gather_tiles(GroupedStorage<kMost>& smem, const GroupedHopperArgs& args, int warp) {
  using Rows = GatheredRows<kMost>;
  constexpr int kRowBytes = 2 * kTileInputs;
  const int lane = threadIdx.x % 32, piece = lane % 8, quarter = lane / 8, first = 4 * warp + quarter;
  // Pieces are swizzled by the row in its group of eight: kTurn rows on, it is the other half of them.
  static_assert(Rows::kTurn % 8 == 4);
  const std::uint32_t panel = shared_address(smem.input[0]) + first * kRowBytes;
  const std::uint32_t even = panel + (piece ^ first % 8) * 16, odd = panel + (piece ^ (first + 4) % 8) * 16;
  const int pieces = args.inputs / 8;
  // Of many rows each is read by all tiles of its experts' weights, while those go through the L2 cache.
  constexpr bool kReadAgain = kMost > 64;
  const std::uint64_t read_again = kReadAgain ? read_again_policy() : 0;
  GroupedTiles<kMost, kCluster> tiles(smem, args);
  GroupedWork work;
  Rows rows, next;
  bool more = tiles.next(work);
  if (more) next.load(args, work, first);
  GroupedPlace<GroupedStorage<kMost>::kStages> at;
  while (more) {
    const int pairs = work.pairs - 4 * warp;
    rows = next;
    rows.find(args);
    more = tiles.next(work);
    if (more) next.load(args, work, first);
    const uint4* columns = reinterpret_cast<const uint4*>(args.rows) + piece;
    for (int x = piece; x < pieces + piece; x += 8, columns += 8, at.advance()) {
      const bool inside = x < pieces;
      const std::uint32_t stage = at.stage * static_cast<std::uint32_t>(sizeof smem.input[0]);
      mbarrier_wait(&smem.empty[at.stage], at.phase ^ 1);
      __syncwarp();  // so that eight lanes ask for their row at once
#pragma unroll
      for (int i = 0; i < Rows::kOwn; ++i) {
        const std::uint32_t to = (i % 2 == 0 ? even : odd) + stage + i * Rows::kTurn * kRowBytes;
        const uint4* const from = columns + rows.number[i];
        if constexpr (kReadAgain) {
          copy_async_below(Rows::kTurn * i, pairs, read_again, to, from, inside);
        } else if (Rows::kTurn * i < pairs) {
          copy_async_or_zero(to, from, inside);
        } else {
          break;
        }
      }
      mbarrier_arrive_when_copied(&smem.full[at.stage]);
    }
  }
}

#endif

}  // namespace buoy::ops

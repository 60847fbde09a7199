// Pairs of a row and an expert, sorted by expert, those of an expert by row. The block that decides for some
// rows finds how many of them chose each expert, and where each pair stands among those of its block. Where
// there is one block, that is all; else it leaves both behind, and a second kernel adds what other blocks
// have.

#pragma once

#include <algorithm>

#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/experts/experts_cuda.h"

namespace buoy::ops {

// A warp has a row, and a bit says that it chose an expert.
inline constexpr int kSortRows = 32, kMostRowsTogether = 224;  // a byte counts rows
inline constexpr std::int64_t kSortBlocks = 256;               // every block reads the counts of all

// Rows of a block, a multiple of kSortRows.
inline int rows_together(std::int64_t rows) {
  const std::int64_t turns = (rows + kSortRows * kSortBlocks - 1) / (kSortRows * kSortBlocks);
  return static_cast<int>(std::min<std::int64_t>(kSortRows * turns, kMostRowsTogether));
}
__host__ __device__ inline int blocks_of(std::int64_t rows, int together) {
  return static_cast<int>((rows + together - 1) / together);
}

struct SortArgs {
  DevicePairs out;
  int experts, chosen, together;
  std::int64_t rows;
  __host__ __device__ int blocks() const { return blocks_of(rows, together); }
  // An expert's counts: those of all blocks, and zeros up to a multiple of four.
  __host__ __device__ int padded_blocks() const { return (blocks() + 3) / 4 * 4; }
};

// Where the pairs of each expert begin, from how many it has. For all threads of a block.
template <typename Count>
__device__ void find_begin(const Count& count, int experts, int* begin) {
  constexpr unsigned kAll = 0xffffffffu;
  const int lane = threadIdx.x % 32, warps = static_cast<int>(blockDim.x) / 32;
  for (int base = 32 * (static_cast<int>(threadIdx.x) / 32); base < experts; base += 32 * warps) {
    int before = 0;
    for (int e = lane; e < base; e += 32) before += count(e);
    const int own = base + lane < experts ? count(base + lane) : 0;
    int sum = own;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const int other = __shfl_up_sync(kAll, sum, offset);
      if (lane >= offset) sum += other;
    }
    before = __reduce_add_sync(kAll, before);
    if (base + lane < experts) begin[base + lane] = before + sum - own;
  }
}

// Sorts the pairs of one block, of at most kSortRows rows: each warp has a row, and its lane n the expert of
// slot n; masks[e] says which warps chose e. For all threads of a block.
__device__ inline void sort_block(const SortArgs& args, const std::uint32_t* masks, int* begin, int expert) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  find_begin([&](int e) { return __popc(masks[e]); }, args.experts, begin);
  __syncthreads();
  for (int e = threadIdx.x; e < args.experts; e += blockDim.x) args.out.first[e] = begin[e];
  const int pairs = static_cast<int>(args.rows) * args.chosen;
  if (threadIdx.x == 0) args.out.first[args.experts] = pairs;
  if (warp >= args.rows || lane >= args.chosen) return;
  const int place = begin[expert] + __popc(masks[expert] & ((1u << warp) - 1)),
            pair = warp * args.chosen + lane;
  args.out.source[place] = pair;
  args.out.place[pair] = place;
}

// Leaves how many rows of this block chose each expert.
__device__ inline void leave_counts(const SortArgs& args, const int* counts) {
  const int block = blockIdx.x, padded = args.padded_blocks();
  const int end = block + 1 == args.blocks() ? padded : block + 1;
  for (int e = threadIdx.x; e < args.experts; e += blockDim.x) {
    std::uint8_t* const own = args.out.counts + static_cast<std::int64_t>(e) * padded;
    own[block] = static_cast<std::uint8_t>(counts[e]);
    for (int other = block + 1; other < end; ++other) own[other] = 0;
  }
}

inline constexpr int kPlaceThreads = 512;

// Where the pairs of a block stand: `place` says where each stands among those of its block and expert.
__global__ void __launch_bounds__(kPlaceThreads, 3)
    place_pairs_kernel(const std::int32_t* experts, const SortArgs args) {
  constexpr unsigned kAll = 0xffffffffu;
  constexpr int kWarps = kPlaceThreads / 32, kTogether = 8;
  __shared__ int all[kMostExperts], before[kMostExperts], begin[kMostExperts];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, block = blockIdx.x,
            padded = args.padded_blocks();
  const std::int64_t pairs = args.rows * args.chosen,
                     own = static_cast<std::int64_t>(args.together) * args.chosen,
                     end = min(pairs, (block + 1) * own);
  std::int64_t pair = block * own + static_cast<int>(threadIdx.x);
  launch_dependents();
  wait_for_prior_grid();
  int expert = 0, place = 0;
  const auto load = [&] {
    if (pair < end) expert = experts[pair], place = args.out.place[pair];
  };
  load();
  for (int base = warp; base < args.experts; base += kTogether * kWarps) {
    unsigned sums[kTogether] = {}, sums_before[kTogether] = {};
    for (int four = 4 * lane; four < padded; four += 128) {
      std::uint32_t words[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int e = base + i * kWarps;
        words[i] = e < args.experts ? __ldcg(reinterpret_cast<const unsigned*>(
                                          args.out.counts + static_cast<std::int64_t>(e) * padded + four))
                                    : 0;
      }
      const int lower = min(max(block - four, 0), 4);  // of these four blocks
      const std::uint32_t mask = lower == 4 ? 0x01010101u : 0x01010101u & ((1u << 8 * lower) - 1);
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        sums[i] = __dp4a(words[i], 0x01010101u, sums[i]);
        sums_before[i] = __dp4a(words[i], mask, sums_before[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int e = base + i * kWarps;
      const unsigned sum = __reduce_add_sync(kAll, sums[i]),
                     sum_before = __reduce_add_sync(kAll, sums_before[i]);
      if (lane == 0 && e < args.experts) {
        all[e] = static_cast<int>(sum);
        before[e] = static_cast<int>(sum_before);
      }
    }
  }
  __syncthreads();
  find_begin([&](int e) { return all[e]; }, args.experts, begin);
  __syncthreads();
  if (block == 0) {
    for (int e = threadIdx.x; e < args.experts; e += kPlaceThreads) args.out.first[e] = begin[e];
    if (threadIdx.x == 0) args.out.first[args.experts] = static_cast<std::int32_t>(pairs);
  }
  for (; pair < end; pair += kPlaceThreads, load()) {
    const int found = begin[expert] + before[expert] + place;
    args.out.source[found] = static_cast<std::int32_t>(pair);
    args.out.place[pair] = found;
  }
}

}  // namespace buoy::ops

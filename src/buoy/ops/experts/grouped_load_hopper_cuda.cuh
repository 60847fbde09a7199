// The producers of the products of experts on Hopper: one thread brings weights, and rows of the input that
// stand one after the other, by TMA; three warps gather rows that do not, a step each in turn.

#pragma once

#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/experts/grouped_tiles_hopper_cuda.cuh"

namespace buoy::ops {

#ifdef BUOY_HAS_WGMMA

inline constexpr int kGatherWarps = 3;
// Weights are on their way to the L2 cache so many steps before they are loaded; 0: not asked for.
inline constexpr int kStepsAhead = 4;

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

// For one thread. kEarly: the kernel in front still forms the input, and weights are asked for meanwhile.
template <int kMost, int kCluster, bool kGathers, bool kEarly>
__device__ void load_tiles(GroupedStorage<kMost>& smem, const GroupedHopperArgs& args) {
  using Storage = GroupedStorage<kMost>;
  constexpr int kPart = kWeightRows / kCluster, kBox = Storage::kInputBox;
  constexpr int kAhead = Storage::kLargestFirst ? kStepsAhead : 0,
                kFirst = kEarly && kAhead < Storage::kStages ? Storage::kStages : kAhead;
  const int rank = kCluster == 1 ? 0 : static_cast<int>(cluster_rank());
  GroupedSteps<kMost, kCluster> now(smem, args), ahead = now;
  const auto prefetch = [&] {
    tma_prefetch(&args.weight, ahead.k * kTileInputs, ahead.work.weight_row + rank * kPart);
  };
  for (int i = 0; i < kFirst && ahead.more; ++i, ahead.advance()) {
    if (kEarly) prefetch();
  }
  if (kEarly) wait_for_prior_grid();
  for (GroupedPlace<Storage::kStages> at; now.more; now.advance(), at.advance()) {
    const GroupedWork& work = now.work;
    const int stage = at.stage, x = now.k * kTileInputs, rows = (work.pairs + 7) / 8 * 8;
    mbarrier_wait(&smem.empty[stage], at.phase ^ 1);
    if (now.k == 0) smem.work[stage] = work;
    mbarrier_arrive_expect_tx(&smem.full[stage],
                              2 * (Storage::kWeight + (kGathers ? 0 : rows * kTileInputs)));
    if constexpr (kCluster == 2) {
      tma_load_multicast(0b11, smem.weight[stage] + rank * kPart * kTileInputs, &args.weight,
                         &smem.full[stage], x, work.weight_row + rank * kPart);
    } else {
      tma_load(smem.weight[stage], &args.weight, &smem.full[stage], x, work.weight_row);
    }
    if constexpr (!kGathers) {
      int row = 0;
      for (; row + kBox <= rows; row += kBox) {
        tma_load(smem.input[stage] + row * kTileInputs, &args.input, &smem.full[stage], x, work.row + row);
      }
      for (; row < rows; row += 8) {
        tma_load(smem.input[stage] + row * kTileInputs, &args.eight_inputs, &smem.full[stage], x,
                 work.row + row);
      }
    }
    if (kAhead > 0 && ahead.more) {
      prefetch();
      ahead.advance();
    }
  }
}

// Rows of the input for the pairs of a tile: lane l has those of pairs l, l + 32, ...; behind the last pair
// stands its row again.
template <int kMost>
struct GatheredRows {
  static constexpr int kOwn = (kMost + 31) / 32;

  __device__ void load(const GroupedHopperArgs& args, const GroupedWork& work) {
    if (work.pairs == 0) return;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int pair = min(static_cast<int>(threadIdx.x % 32) + 32 * i, work.pairs - 1);
      number[i] = static_cast<std::uint32_t>(__ldg(args.source + work.row + pair));
    }
  }
  // They were numbers of pairs.
  __device__ void divide(const GroupedHopperArgs& args) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) number[i] /= static_cast<std::uint32_t>(args.chosen);
  }

  std::uint32_t number[kOwn] = {};
};

// Columns x.. of a tile's rows into a swizzled panel. A warp brings four rows at a time.
template <int kMost>
__device__ void copy_rows(std::uint16_t* panel, const GroupedHopperArgs& args,
                          const GatheredRows<kMost>& rows, int pairs, int x) {
  const int lane = threadIdx.x % 32, piece = lane % 8, quarter = lane / 8;
  const bool inside = x + piece * 8 < args.inputs;
  const std::uint16_t* columns = args.rows + (inside ? x + piece * 8 : 0);
  std::uint16_t* const even = panel + quarter * kTileInputs + (piece ^ quarter) * 8;
  std::uint16_t* const odd = panel + (4 + quarter) * kTileInputs + (piece ^ (4 + quarter)) * 8;
#pragma unroll
  for (int i = 0; i < kMost / 8; ++i) {
    if (8 * i >= pairs) break;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      constexpr std::uint32_t kAll = 0xffffffffu;
      const int pair = 8 * i + 4 * half;
      const std::uint32_t row = __shfl_sync(kAll, rows.number[pair / 32], pair % 32 + quarter);
      copy_async_or_zero((half == 0 ? even : odd) + 8 * i * kTileInputs,
                         columns + static_cast<std::uint64_t>(row) * static_cast<std::uint32_t>(args.inputs),
                         inside);
    }
  }
}

// For each of kGatherWarps warps. The tensor cores read through another proxy than these copies write
// through.
template <int kMost, int kCluster>
__device__ void gather_tiles(GroupedStorage<kMost>& smem, const GroupedHopperArgs& args, int warp) {
  constexpr std::uint32_t kStages = GroupedStorage<kMost>::kStages;
  GroupedTiles<kMost, kCluster> tiles(smem, args);
  GroupedWork work, next;
  GatheredRows<kMost> rows, next_rows;
  bool more = tiles.next(next);
  if (more) next_rows.load(args, next);
  std::uint32_t step = 0;  // of all tiles
  int k = warp;            // of this warp
  while (more) {
    work = next;
    rows = next_rows;
    rows.divide(args);
    more = tiles.next(next);
    if (more) next_rows.load(args, next);
    for (; k < args.input_tiles; k += kGatherWarps) {
      const std::uint32_t number = step + static_cast<std::uint32_t>(k), stage = number % kStages;
      mbarrier_wait(&smem.empty[stage], number / kStages % 2 ^ 1);
      copy_rows(smem.input[stage], args, rows, work.pairs, k * kTileInputs);
      commit_copies();
      wait_for_copies();
      fence_async_proxy();
      mbarrier_arrive_per_warp(&smem.full[stage]);
    }
    k -= args.input_tiles;
    step += static_cast<std::uint32_t>(args.input_tiles);
  }
}

#endif

}  // namespace buoy::ops

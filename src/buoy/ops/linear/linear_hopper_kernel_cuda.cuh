// output = input weight^T on Hopper: a persistent, warp-specialised kernel. A thread block of three
// warpgroups takes tiles of the output, one after the other. One thread of the producer warpgroup loads both
// factors by TMA into a ring of stages and runs ahead into the next tile. The two consumer warpgroups
// multiply half of the rows each (WGMMA) and run the epilogue through shared memory. Two blocks of a cluster
// take neighbouring tiles and each loads half of what both need (TMA multicast).
//
// A row's sums are formed in the same order wherever the row stands, however many there are and whatever the
// tile.

#pragma once

#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/device/wgmma_cuda.cuh"
#include "buoy/ops/linear/linear_hopper_output_cuda.cuh"

namespace buoy::ops {

struct LinearPlace {
  int row, column;
};

// Tile number `index` of a cluster, in tiles.
__device__ inline LinearPlace linear_place(const HopperLinearArgs& args, int index) {
  const int whole_group = args.rows_together * args.column_tiles;
  const int first = index / whole_group * args.rows_together, within = index % whole_group;
  const int rows = min(args.rows_together, args.row_tiles - first);
  return {first + within % rows, within / rows};
}

#ifdef BUOY_HAS_WGMMA

// Where a pipeline stands: stages come round again, and each round flips the barriers' phase.
template <int kStages>
struct PipelinePlace {
  int stage = 0;
  std::uint32_t phase = 0;
  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

// The tile of one of a cluster's blocks: its first row, and its number among the tiles of a row.
template <typename Tile>
__device__ int first_row_of(const LinearPlace& place, int rank) {
  return (Tile::kSharesInput ? place.row : place.row * kLinearCluster + rank) * Tile::kRows;
}
template <typename Tile>
__device__ int tile_column_of(const HopperLinearArgs& args, const LinearPlace& place, int rank) {
  return args.first_tile_column + (Tile::kSharesInput ? place.column * kLinearCluster + rank : place.column);
}

// The producer: one thread of each block of a cluster. Nothing on the GPU writes weights, so the first of
// them are loaded before the kernel in front has written the inputs (programmatic dependent launch).
template <typename Tile>
__device__ void produce_tiles(LinearSharedStorage<Tile>& smem, const HopperLinearArgs& args, int rank,
                              int first_tile, int tile_step) {
  constexpr int kBoth = 0b11, kRowsHalf = Tile::kRows / kLinearCluster,
                kColumnsHalf = Tile::kColumns / kLinearCluster;
  const int tiles = args.row_tiles * args.column_tiles, early = min(args.input_tiles, Tile::kStages);
  const auto load_input = [&](int stage, const LinearPlace& place, int k) {
    const int x = k * kLinearTileInputs, row = first_row_of<Tile>(place, rank);
    if constexpr (Tile::kSharesInput) {
      tma_load_multicast(kBoth, smem.input[stage] + rank * kRowsHalf * kLinearTileInputs, &args.input,
                         &smem.full[stage], x, row + rank * kRowsHalf);
    } else {
      tma_load(smem.input[stage], &args.input, &smem.full[stage], x, row);
    }
  };
  const auto load_weight = [&](int stage, const LinearPlace& place, int k) {
    const int x = k * kLinearTileInputs, column = tile_column_of<Tile>(args, place, rank) * Tile::kColumns;
    mbarrier_arrive_expect_tx(&smem.full[stage], LinearSharedStorage<Tile>::kStageBytes);
    if constexpr (!Tile::kSharesInput) {
      tma_load_multicast(kBoth, smem.weight[stage] + rank * kColumnsHalf * kLinearTileInputs, &args.weight,
                         &smem.full[stage], x, column + rank * kColumnsHalf);
    } else {
      tma_load(smem.weight[stage], &args.weight, &smem.full[stage], x, column);
    }
  };
  LinearPlace place = linear_place(args, first_tile);
  for (int k = 0; k < early; ++k) load_weight(k, place, k);
  wait_for_prior_grid();
  for (int k = 0; k < early; ++k) load_input(k, place, k);
  PipelinePlace<Tile::kStages> at;
  for (int k = 0; k < early; ++k) at.advance();
  for (int index = first_tile; index < tiles; index += tile_step) {
    place = linear_place(args, index);
    for (int k = index == first_tile ? early : 0; k < args.input_tiles; ++k, at.advance()) {
      mbarrier_wait(&smem.empty[at.stage], at.phase ^ 1);
      load_weight(at.stage, place, k);
      load_input(at.stage, place, k);
    }
  }
}

// The epilogue: what becomes of a warpgroup's sums. `last_products_end` returns when they are there.
template <LinearOutput kKind, int kHeadDim, typename Tile, typename Wait>
__device__ void run_epilogue(LinearSharedStorage<Tile>& smem,
                             float (&sums)[Tile::kRowBlocks][Tile::kColumns / 2],
                             const HopperLinearArgs& args, int row, int tile_column,
                             const Wait& last_products_end) {
  if constexpr (kKind == LinearOutput::kQkv) {
    // Angles are on their way while the last products run.
    const int column = tile_column * Tile::kColumns;
    RowAngles<kHeadDim> angles[2];
    if (column < args.heads.first_value) {
      angles[0].load(args.heads, row, 0);
      angles[1].load(args.heads, row, 1);
    }
    last_products_end();
    finish_heads(sums[0], args.heads, angles, row, column);
  } else {
    last_products_end();
  }
#pragma unroll
  for (int block = 0; block < Tile::kRowBlocks; ++block) {
    if constexpr (kKind == LinearOutput::kBest) {
      find_best(sums[block], args.best, row + block * 64, tile_column);
    } else {
      send_sums<kKind, Tile>(smem.sums[threadIdx.x / 128 - 1], sums[block], args, row + block * 64,
                             tile_column);
    }
  }
}

template <LinearOutput kKind, int kHeadDim, typename Tile>
__device__ void consume_tiles(LinearSharedStorage<Tile>& smem, const HopperLinearArgs& args, int rank,
                              int first_tile, int tile_step) {
  constexpr int kRows = 64 * Tile::kRowBlocks;  // of a warpgroup
  const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
  const std::uint64_t inputs = moved_by(operand(smem.input[0]), group * kRows * 128),
                      weights = operand(smem.weight[0]);
  // The other block loads half of a factor, so its producer has to know, too.
  const auto release = [&](int stage) {
    __syncwarp();
    if (lane < kLinearCluster) mbarrier_arrive_remote(&smem.empty[stage], lane);
  };
  PipelinePlace<Tile::kStages> at;
  const int tiles = args.row_tiles * args.column_tiles;
  for (int index = first_tile; index < tiles; index += tile_step) {
    float sums[Tile::kRowBlocks][Tile::kColumns / 2];
    int last = 0;
    for (int k = 0; k < args.input_tiles; ++k, at.advance()) {
      const int stage = at.stage;
      mbarrier_wait(&smem.full[stage], at.phase);
      const std::uint64_t a = moved_by(inputs, stage * sizeof(smem.input[0])),
                          b = moved_by(weights, stage * sizeof(smem.weight[0]));
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < kLinearTileInputs / 16; ++i) {
#pragma unroll
        for (int block = 0; block < Tile::kRowBlocks; ++block)
          multiply_tile(sums[block], moved_by(a, block * 64 * 128 + 32 * i), moved_by(b, 32 * i),
                        k > 0 || i > 0);
      }
      wgmma_commit();
      wgmma_wait<1>();
      if (k > 0) release(last);
      last = stage;
    }
    const LinearPlace place = linear_place(args, index);
    const auto last_products_end = [&] {
      wgmma_wait<0>();
#pragma unroll
      for (int block = 0; block < Tile::kRowBlocks; ++block) wgmma_fence_results(sums[block]);
      release(last);
    };
    run_epilogue<kKind, kHeadDim>(smem, sums, args, first_row_of<Tile>(place, rank) + group * kRows,
                                  tile_column_of<Tile>(args, place, rank), last_products_end);
  }
  if (threadIdx.x % 128 == 0) tma_store_wait();
}

#endif

template <typename Tile, LinearOutput kKind, int kHeadDim>
__global__ void __launch_bounds__(kLinearThreads, 1)
    linear_hopper(const __grid_constant__ HopperLinearArgs args) {
#ifdef BUOY_HAS_WGMMA
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& smem = *reinterpret_cast<LinearSharedStorage<Tile>*>(shared);
  if (threadIdx.x == 0) {
    constexpr int kConsumerWarps = 8;
    for (int stage = 0; stage < Tile::kStages; ++stage) {
      mbarrier_init(&smem.full[stage], 1);
      mbarrier_init(&smem.empty[stage], kConsumerWarps * kLinearCluster);
    }
    mbarrier_init_fence();
  }
  cluster_sync();
  launch_dependents();
  const int rank = static_cast<int>(cluster_rank());
  const int first_tile = blockIdx.x / kLinearCluster, tile_step = gridDim.x / kLinearCluster;
  if (threadIdx.x < 128) {
    setmaxnreg_dec<24>();
    if (threadIdx.x == 0) produce_tiles(smem, args, rank, first_tile, tile_step);
  } else {
    setmaxnreg_inc<240>();
    wait_for_prior_grid();
    consume_tiles<kKind, kHeadDim>(smem, args, rank, first_tile, tile_step);
  }
  // Nobody leaves while the other block may still reach into its shared memory.
  cluster_sync();
#endif
}

}  // namespace buoy::ops

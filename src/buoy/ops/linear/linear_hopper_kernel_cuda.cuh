// output = input weight^T on Hopper. A thread block of three warpgroups takes tiles of the output, one after
// the other: one thread of the first warpgroup brings both factors by the copy engine and runs ahead into the
// next tile, the two others multiply half of the rows each and send their sums through shared memory. Two
// blocks of a cluster take neighbouring tiles and bring half of what both need each.
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

// One thread of each block of a cluster. Nothing on the GPU writes weights, so the first of them are on their
// way before the kernel in front has written the inputs.
template <typename Tile>
__device__ void bring_factors(LinearRoom<Tile>& room, const HopperLinearArgs& args, int rank, int first_tile,
                              int tile_step) {
  constexpr int kBoth = 0b11, kRowsHalf = Tile::kRows / kLinearCluster,
                kColumnsHalf = Tile::kColumns / kLinearCluster;
  const int tiles = args.row_tiles * args.column_tiles, early = min(args.input_tiles, Tile::kStages);
  const auto bring_input = [&](int stage, const LinearPlace& place, int k) {
    const int x = k * kLinearTileInputs, row = first_row_of<Tile>(place, rank);
    if constexpr (Tile::kSharesInput) {
      copy_tile_to(kBoth, room.input[stage] + rank * kRowsHalf * kLinearTileInputs, &args.input,
                   &room.full[stage], x, row + rank * kRowsHalf);
    } else {
      copy_tile(room.input[stage], &args.input, &room.full[stage], x, row);
    }
  };
  const auto bring_weight = [&](int stage, const LinearPlace& place, int k) {
    const int x = k * kLinearTileInputs, column = tile_column_of<Tile>(args, place, rank) * Tile::kColumns;
    arrive_expecting(&room.full[stage], LinearRoom<Tile>::kStageBytes);
    if constexpr (!Tile::kSharesInput) {
      copy_tile_to(kBoth, room.weight[stage] + rank * kColumnsHalf * kLinearTileInputs, &args.weight,
                   &room.full[stage], x, column + rank * kColumnsHalf);
    } else {
      copy_tile(room.weight[stage], &args.weight, &room.full[stage], x, column);
    }
  };
  LinearPlace place = linear_place(args, first_tile);
  for (int k = 0; k < early; ++k) bring_weight(k, place, k);
  wait_for_previous();
  for (int k = 0; k < early; ++k) bring_input(k, place, k);
  PipelinePlace<Tile::kStages> at;
  for (int k = 0; k < early; ++k) at.advance();
  for (int index = first_tile; index < tiles; index += tile_step) {
    place = linear_place(args, index);
    for (int k = index == first_tile ? early : 0; k < args.input_tiles; ++k, at.advance()) {
      wait_for(&room.empty[at.stage], at.phase ^ 1);
      bring_weight(at.stage, place, k);
      bring_input(at.stage, place, k);
    }
  }
}

// What becomes of a warpgroup's sums. `last_products_end` returns when they are there.
template <LinearOutput kKind, int kHeadDim, typename Tile, typename Wait>
__device__ void finish_tile(LinearRoom<Tile>& room, float (&sums)[Tile::kRowBlocks][Tile::kColumns / 2],
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
    finish_heads(sums[0], args.heads, angles, column);
  } else {
    last_products_end();
  }
#pragma unroll
  for (int block = 0; block < Tile::kRowBlocks; ++block) {
    if constexpr (kKind == LinearOutput::kBest) {
      find_best(sums[block], args.best, row + block * 64, tile_column);
    } else {
      send_sums<kKind, Tile>(room.sums[threadIdx.x / 128 - 1], sums[block], args, row + block * 64,
                             tile_column);
    }
  }
}

template <LinearOutput kKind, int kHeadDim, typename Tile>
__device__ void multiply_tiles(LinearRoom<Tile>& room, const HopperLinearArgs& args, int rank, int first_tile,
                               int tile_step) {
  constexpr int kRows = 64 * Tile::kRowBlocks;  // of a warpgroup
  const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
  const std::uint64_t inputs = moved_by(operand(room.input[0]), group * kRows * 128),
                      weights = operand(room.weight[0]);
  // The other block brings half of a factor, so it has to know, too.
  const auto release = [&](int stage) {
    __syncwarp();
    if (lane < kLinearCluster) arrive_at(&room.empty[stage], lane);
  };
  PipelinePlace<Tile::kStages> at;
  const int tiles = args.row_tiles * args.column_tiles;
  for (int index = first_tile; index < tiles; index += tile_step) {
    float sums[Tile::kRowBlocks][Tile::kColumns / 2];
    int last = 0;
    for (int k = 0; k < args.input_tiles; ++k, at.advance()) {
      const int stage = at.stage;
      wait_for(&room.full[stage], at.phase);
      const std::uint64_t a = moved_by(inputs, stage * sizeof(room.input[0])),
                          b = moved_by(weights, stage * sizeof(room.weight[0]));
      begin_products();
#pragma unroll
      for (int i = 0; i < kLinearTileInputs / 16; ++i) {
#pragma unroll
        for (int block = 0; block < Tile::kRowBlocks; ++block)
          multiply_tile(sums[block], moved_by(a, block * 64 * 128 + 32 * i), moved_by(b, 32 * i),
                        k > 0 || i > 0);
      }
      commit_products();
      wait_for_products<1>();
      if (k > 0) release(last);
      last = stage;
    }
    const LinearPlace place = linear_place(args, index);
    const auto last_products_end = [&] {
      wait_for_products<0>();
#pragma unroll
      for (int block = 0; block < Tile::kRowBlocks; ++block) results_are_here(sums[block]);
      release(last);
    };
    finish_tile<kKind, kHeadDim>(room, sums, args, first_row_of<Tile>(place, rank) + group * kRows,
                                 tile_column_of<Tile>(args, place, rank), last_products_end);
  }
  if (threadIdx.x % 128 == 0) wait_until_stored();
}

#endif

template <typename Tile, LinearOutput kKind, int kHeadDim>
__global__ void __launch_bounds__(kLinearThreads, 1)
    linear_hopper(const __grid_constant__ HopperLinearArgs args) {
#ifdef BUOY_HAS_WGMMA
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& room = *reinterpret_cast<LinearRoom<Tile>*>(shared);
  if (threadIdx.x == 0) {
    constexpr int kConsumerWarps = 8;
    for (int stage = 0; stage < Tile::kStages; ++stage) {
      init_barrier(&room.full[stage], 1);
      init_barrier(&room.empty[stage], kConsumerWarps * kLinearCluster);
    }
    fence_barrier_init();
  }
  meet_cluster();
  let_next_start();
  const int rank = static_cast<int>(block_of_cluster());
  const int first_tile = blockIdx.x / kLinearCluster, tile_step = gridDim.x / kLinearCluster;
  if (threadIdx.x < 128) {
    give_registers<24>();
    if (threadIdx.x == 0) bring_factors(room, args, rank, first_tile, tile_step);
  } else {
    take_registers<240>();
    wait_for_previous();
    multiply_tiles<kKind, kHeadDim>(room, args, rank, first_tile, tile_step);
  }
  // Nobody leaves while the other block may still reach into its shared memory.
  meet_cluster();
#endif
}

}  // namespace buoy::ops

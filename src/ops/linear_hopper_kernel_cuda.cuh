// output = input weight^T on Hopper. A thread block of three warpgroups takes tiles of 128 rows by 256
// columns, one after the other: one thread of the first warpgroup brings both factors by the copy engine and
// runs ahead into the next tile, the two others multiply 64 rows each and send their sums through shared
// memory. Two blocks of a cluster take tiles above each other and bring half of the weights each for both.
//
// A row's sums are formed in the same order wherever the row stands and however many there are.

#pragma once

#include "ops/launch_cuda.cuh"
#include "ops/linear_hopper_output_cuda.cuh"
#include "ops/wgmma_cuda.cuh"

namespace buoy::ops {

struct LinearTile {
  int row, column;
};

// Tile number `index` of a cluster, in tiles.
__device__ inline LinearTile linear_tile(const HopperLinearArgs& args, int index) {
  const int whole_group = args.rows_together * args.column_tiles;
  const int first = index / whole_group * args.rows_together, within = index % whole_group;
  const int rows = min(args.rows_together, args.row_tiles - first);
  return {first + within % rows, within / rows};
}

#ifdef BUOY_HAS_WGMMA

// Where a pipeline stands: stages come round again, and each round flips the barriers' phase.
struct PipelinePlace {
  int stage = 0;
  std::uint32_t phase = 0;
  __device__ void advance() {
    if (++stage == LinearRoom::kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

// One thread of each block of a cluster. Nothing on the GPU writes weights, so the first of them are on their
// way before the kernel in front has written the inputs.
__device__ inline void bring_factors(LinearRoom& room, const HopperLinearArgs& args, int rank, int first_tile,
                                     int tile_step) {
  constexpr int kHalf = kLinearTileColumns / kLinearCluster;
  const int tiles = args.row_tiles * args.column_tiles, early = min(args.input_tiles, LinearRoom::kStages);
  const auto bring_input = [&](int stage, const LinearTile& tile, int k) {
    copy_tile(room.input[stage], &args.input, &room.full[stage], k * kLinearTileInputs,
              (tile.row * kLinearCluster + rank) * kLinearTileRows);
  };
  const auto bring_weight = [&](int stage, const LinearTile& tile, int k) {
    arrive_expecting(&room.full[stage], LinearRoom::kStageBytes);
    copy_tile_to(0b11, room.weight[stage] + rank * kHalf * kLinearTileInputs, &args.weight, &room.full[stage],
                 k * kLinearTileInputs, tile.column * kLinearTileColumns + rank * kHalf);
  };
  LinearTile tile = linear_tile(args, first_tile);
  for (int k = 0; k < early; ++k) bring_weight(k, tile, k);
  wait_for_previous();
  for (int k = 0; k < early; ++k) bring_input(k, tile, k);
  PipelinePlace place;
  for (int k = 0; k < early; ++k) place.advance();
  for (int index = first_tile; index < tiles; index += tile_step) {
    tile = linear_tile(args, index);
    for (int k = index == first_tile ? early : 0; k < args.input_tiles; ++k, place.advance()) {
      wait_for(&room.empty[place.stage], place.phase ^ 1);
      bring_weight(place.stage, tile, k);
      bring_input(place.stage, tile, k);
    }
  }
}

template <LinearOutput kKind, int kHeadDim>
__device__ void multiply_tiles(LinearRoom& room, const HopperLinearArgs& args, int rank, int first_tile,
                               int tile_step) {
  const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
  const std::uint64_t inputs = moved_by(operand(room.input[0]), group * 64 * 128),
                      weights = operand(room.weight[0]);
  // The other block brings half of the weights, so it has to know, too.
  const auto release = [&](int stage) {
    __syncwarp();
    if (lane < kLinearCluster) arrive_at(&room.empty[stage], lane);
  };
  PipelinePlace place;
  const int tiles = args.row_tiles * args.column_tiles;
  for (int index = first_tile; index < tiles; index += tile_step) {
    float sums[128];
    int last = 0;
    for (int k = 0; k < args.input_tiles; ++k, place.advance()) {
      const int stage = place.stage;
      wait_for(&room.full[stage], place.phase);
      const std::uint64_t a = moved_by(inputs, stage * sizeof(room.input[0])),
                          b = moved_by(weights, stage * sizeof(room.weight[0]));
      begin_products();
#pragma unroll
      for (int i = 0; i < kLinearTileInputs / 16; ++i)
        multiply_64x256(sums, moved_by(a, 32 * i), moved_by(b, 32 * i), k > 0 || i > 0);
      commit_products();
      wait_for_products<1>();
      if (k > 0) release(last);
      last = stage;
    }
    wait_for_products<0>();
    results_are_here(sums);
    release(last);
    const LinearTile tile = linear_tile(args, index);
    const int row = (tile.row * kLinearCluster + rank) * kLinearTileRows + group * 64;
    if constexpr (kKind == LinearOutput::kQkv)
      finish_heads<kHeadDim>(sums, args.heads, row, tile.column * kLinearTileColumns);
    if constexpr (kKind == LinearOutput::kBest) {
      find_best(sums, args.best, row, tile.column);
    } else {
      send_sums<kKind>(room.sums[group], sums, args, row, tile.column);
    }
  }
  if (threadIdx.x % 128 == 0) wait_until_stored();
}

#endif

template <LinearOutput kKind, int kHeadDim>
__global__ void __launch_bounds__(kLinearThreads, 1)
    linear_hopper(const __grid_constant__ HopperLinearArgs args) {
#ifdef BUOY_HAS_WGMMA
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& room = *reinterpret_cast<LinearRoom*>(shared);
  if (threadIdx.x == 0) {
    constexpr int kConsumerWarps = 8;
    for (int stage = 0; stage < LinearRoom::kStages; ++stage) {
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

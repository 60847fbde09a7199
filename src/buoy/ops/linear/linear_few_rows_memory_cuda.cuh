// What the kernel for products of few rows is told, and what lies in a block's shared memory.

#pragma once

#include "buoy/ops/device/wgmma_cuda.cuh"
#include "buoy/ops/linear/linear_cuda.h"

namespace buoy::ops {

inline constexpr int kFewConsumers = 256, kFewThreads = kFewConsumers + 32;  // a warp behind them loads
inline constexpr int kFewParts = 2;  // blocks of a cluster: they divide the inputs
inline constexpr int kFewStep = 64;  // inputs that are loaded and multiplied at a time
inline constexpr int kMostFewTile = 256, kMostFewStages = 32;

struct FewRowsArgs {
  CUtensorMap weight, input;
  int rows, outputs;
  int tile_weights, tiles;  // rows of the weight that a cluster multiplies at a time, and how often they come
  int strips, own_strips;   // of 16 rows: of a tile, and those of them that a block finishes at most
  int steps;                // kFewStep inputs each, of both blocks together
  int stages;
  LinearOutput kind;
  void* output;
};

struct FewRowsBarriers {
  std::uint64_t full[kMostFewStages], empty[kMostFewStages];
  std::uint64_t joined;    // the sums of both blocks have come
  std::uint64_t finished;  // both blocks have read the sums that this one sent them
};

// Behind the barriers lie the stages, each a tile of weights and kRows rows of the input, in panels; then the
// sums that blocks send.
template <int kRows>
struct FewRowsMemory {
  static constexpr int kPanelRow = 2 * kFewStep, kInputBytes = kRows * kPanelRow, kBarriers = 1024;
  static_assert(sizeof(FewRowsBarriers) <= kBarriers);
  __host__ __device__ static int stage_bytes(int tile_weights) {
    return tile_weights * kPanelRow + kInputBytes;
  }

  __device__ FewRowsMemory(unsigned char* shared, const FewRowsArgs& args)
      : barriers(*reinterpret_cast<FewRowsBarriers*>(shared)),
        stages(shared + kBarriers),
        stage_size(stage_bytes(args.tile_weights)),
        sums(reinterpret_cast<float4*>(stages + args.stages * stage_size)) {}

  FewRowsBarriers& barriers;
  unsigned char* stages;
  int stage_size;
  float4* sums;
};

}  // namespace buoy::ops

// What both kernels of the moments are told, and where things lie.
//
// The first kernel sums the queries by chunks of rows. The second multiplies every key with the sum of the
// chunks that see it as a whole, and where a mask cuts through a chunk with its queries one by one, on the
// tensor cores.

#pragma once

#include "ops/attention_launch_cuda.cuh"
#include "ops/attention_mma_cuda.cuh"
#include "ops/attention_plan_cuda.cuh"
#include "ops/qk_moments_cuda.h"

namespace buoy::ops {

inline constexpr int kMostDim = 128, kSets = 2, kWidth = kMomentWidth;

struct MomentArgs {
  const DeviceSequence* sequences;
  const Tile *row_chunks, *key_tiles;
  // [sets, heads, chunk, kWidth]: sum of queries, of their directions, of their norms, their number. A
  // sequence's chunks start at padded_start / kRowsPadded.
  float* sums;
  float* norms;  // [sets, heads, padded_rows]: of the queries; below zero for those not taken
  int chunk_rows, heads, heads_per_key_head, head_dim, mask_block, rows, padded_rows, columns;
  bool aligned[kSets];
  CudaQkMoments sets[kSets];
};

__device__ inline float* sums_of(const MomentArgs& args, const DeviceSequence& sequence, int first_row,
                                 int head) {
  const std::int64_t most_chunks = args.padded_rows / kRowsPadded;
  const std::int64_t chunk = sequence.padded_start / kRowsPadded + first_row / args.chunk_rows;
  return args.sums +
         ((static_cast<std::int64_t>(blockIdx.z) * args.heads + head) * most_chunks + chunk) * kWidth;
}

__device__ inline float* norms_of(const MomentArgs& args, const DeviceSequence& sequence, int head) {
  return args.norms + (static_cast<std::int64_t>(blockIdx.z) * args.heads + head) * args.padded_rows +
         sequence.padded_start;
}

__device__ inline const Bf16* row_of(const std::uint16_t* states, std::int64_t stride, std::int64_t row,
                                     int head, int head_dim) {
  return reinterpret_cast<const Bf16*>(states) + row * stride + static_cast<std::int64_t>(head) * head_dim;
}

__device__ inline float sum_of_quad(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

void launch_sum_queries(const PlanState& plan, const MomentArgs& args, unsigned sets, const Stream& stream);
void launch_key_columns(const PlanState& plan, const MomentArgs& args, unsigned sets, const Stream& stream);

}  // namespace buoy::ops

// The products of experts: output[j] = input[j] weight[e]^T for the sorted pairs j of each expert e.

#pragma once

#include "buoy/ops/experts/experts_cuda.h"

namespace buoy::ops {

struct GroupedProduct {
  const std::uint16_t* input;   // bf16 [pairs, inputs], sorted by expert
  const std::uint16_t* weight;  // bf16 [E, outputs, inputs]
  const std::int32_t* first;    // [E + 1]
  std::int64_t pairs, experts, inputs, outputs;
  bool swiglu;  // output [pairs, outputs / 2] is silu(gate) * up of rows in turn, else [pairs, outputs]
  std::uint16_t* output;  // bf16
};

void multiply_grouped_general(const Stream& stream, const GroupedProduct& product);

bool hopper_can_multiply_grouped(const GroupedProduct& product);
void multiply_grouped_hopper(const Stream& stream, const GroupedProduct& product);

#ifdef __CUDACC__

// An expert's pairs are cut into tiles of so many.
__device__ inline int tiles_of_expert(const std::int32_t* first, int expert, int pairs) {
  return (first[expert + 1] - first[expert] + pairs - 1) / pairs;
}

// before[e] = how many tiles stand before those of expert e, before[experts] = all. For one warp.
__device__ inline void count_tiles_before(std::int32_t* before, const std::int32_t* first, int experts,
                                          int pairs) {
  const int lane = threadIdx.x % 32, share = (experts + 31) / 32;
  const int begin = min(lane * share, experts), end = min(begin + share, experts);
  int own = 0;
  for (int e = begin; e < end; ++e) own += tiles_of_expert(first, e, pairs);
  int sum = own;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += other;
  }
  int at = sum - own;
  for (int e = begin; e < end; ++e) {
    before[e] = at;
    at += tiles_of_expert(first, e, pairs);
  }
  if (lane == 31) before[experts] = sum;
}

// The expert whose tile number `tile` is.
__device__ inline int expert_of_tile(const std::int32_t* before, int experts, int tile) {
  int low = 0, high = experts;  // before[low] <= tile < before[high]
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (before[middle] <= tile) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

#endif

}  // namespace buoy::ops

// The products of experts: output[j] = input[j] weight[e]^T for the sorted pairs j of each expert e, or
// input[source[j] / chosen] where the rows of the input are gathered.

#pragma once

#include "buoy/ops/experts/experts_cuda.h"

namespace buoy::ops {

struct GroupedProduct {
  const std::uint16_t* input;            // bf16 [pairs, inputs], sorted by expert, or [rows, inputs]
  const std::int32_t* source = nullptr;  // null: the input is sorted
  std::int64_t chosen = 1;               // pairs of a row
  const std::uint16_t* weight;           // bf16 [E, outputs, inputs]
  const std::int32_t* first;             // [E + 1]
  std::int64_t pairs, experts, inputs, outputs;
  // The output [pairs, outputs / 2] is silu(gate) * up of rows in turn, else [pairs, outputs].
  bool swiglu = false;
  std::uint16_t* output;  // bf16
};

// Hopper's kernel of the first product gathers rows of the input itself.
inline constexpr bool kGathersInside = true;

void multiply_grouped_general(const Stream& stream, const GroupedProduct& product);

bool hopper_can_multiply_grouped(const GroupedProduct& product);
void multiply_grouped_hopper(const Stream& stream, const GroupedProduct& product);

#ifdef __CUDACC__

// before[i] = the sum of counts 0 to i - 1. For one warp.
template <typename Number, typename Count>
__device__ void count_before(Number* before, int size, const Count& count) {
  const int lane = threadIdx.x % 32, share = (size + 31) / 32;
  const int begin = min(lane * share, size), end = min(begin + share, size);
  int own = 0;
  for (int i = begin; i < end; ++i) own += count(i);
  int sum = own;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += other;
  }
  int at = sum - own;
  for (int i = begin; i < end; ++i) {
    before[i] = static_cast<Number>(at);
    at += count(i);
  }
  if (lane == 31) before[size] = static_cast<Number>(sum);
}

// Whose tile number `tile` is.
template <typename Number>
__device__ int place_of_tile(const Number* before, int size, int tile) {
  int low = 0, high = size;  // before[low] <= tile < before[high]
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

// One value from those of all threads of a warp or a block.

#pragma once

#include <cuda_runtime.h>

namespace buoy::ops {

// A number that all lanes hold, so that the compiler knows it: what is computed from it goes to uniform
// registers.
__device__ inline int same_in_warp(int number) {
  return __shfl_sync(0xffffffffu, number, 0);
}

// The value that the lane `offset` away holds. A struct has a member of this name.
template <typename T>
__device__ T shuffled(const T& value, int offset) {
  if constexpr (requires { value.shuffled(offset); }) {
    return value.shuffled(offset);
  } else {
    return __shfl_xor_sync(0xffffffffu, value, offset);
  }
}

template <typename T, typename Join>
__device__ T warp_join(T own, Join join) {
  for (int offset = 16; offset > 0; offset /= 2) own = join(own, shuffled(own, offset));
  return own;
}

// The same in every thread. All kThreads threads of the block must call it; the order of joining depends on
// nothing but their number. T must be plain: it lies in shared memory.
template <int kThreads, typename T, typename Join>
__device__ T block_join(T own, Join join) {
  static_assert(kThreads % 32 == 0);
  __shared__ T partial[kThreads / 32];
  own = warp_join(own, join);
  __syncthreads();  // what an earlier call left was read by all
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  T all = partial[0];
  // In full: ptxas of CUDA 13 unrolls this loop in part and then reads beyond the array (sm_90a, 32 warps of
  // Ranked).
#pragma unroll
  for (int warp = 1; warp < kThreads / 32; ++warp) all = join(all, partial[warp]);
  return all;
}

template <int kThreads, typename T>
__device__ T block_sum(T own) {
  return block_join<kThreads>(own, [](T a, T b) { return a + b; });
}

}  // namespace buoy::ops

// How far the products of experts are: what warps of a block tell each other through shared memory, and
// blocks through counters in global memory.

#pragma once

#include "buoy/ops/device/wgmma_cuda.cuh"

namespace buoy::ops {

#ifdef BUOY_HAS_WGMMA

// How many of its tiles a warp of the consumers has sent off. Atomics: others look while it goes on.
__device__ inline void say_turns_done(int* turns_done, int turns) {
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    asm volatile("red.release.cta.shared::cta.max.s32 [%0], %1;\n" ::"r"(shared_address(turns_done)),
                 "r"(turns)
                 : "memory");
}
// The least of all of them, in every lane of the warp that asks.
template <int kWarps>
__device__ int least_turns_done(const int* turns_done) {
  int turns = 0x7fffffff;
  if (threadIdx.x % 32 < kWarps)
    asm volatile("atom.acquire.cta.shared::cta.add.s32 %0, [%1], 0;\n"
                 : "=r"(turns)
                 : "r"(shared_address(turns_done + threadIdx.x % 32))
                 : "memory");
  return __reduce_min_sync(0xffffffffu, turns);
}

__device__ inline int read_acquired(const std::int32_t* value) {
  int found;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];\n" : "=r"(found) : "l"(value) : "memory");
  return found;
}
__device__ inline void add_released(std::int32_t* value, int more) {
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;\n" ::"l"(value), "r"(more) : "memory");
}

// Between what is written with plain stores and what TMA reads, of all memory.
__device__ inline void fence_async_proxy_of_all() {
  asm volatile("fence.proxy.async;\n" ::: "memory");
}

// One arrival of a warp that has sent its results.
__device__ inline void tell_all(std::int32_t* counter) {
  fence_async_proxy_of_all();
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    __threadfence();
    add_released(counter, 1);
  }
}

#endif

}  // namespace buoy::ops

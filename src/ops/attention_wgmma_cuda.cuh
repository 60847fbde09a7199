// Hopper's warpgroup products and bulk tensor copies. Tiles in shared memory are panels of 64 columns: a row
// of a panel is 128 bytes, and the 16-byte pieces of eight rows are swizzled as both the copy engine and the
// tensor cores do it themselves, so a panel starts at a multiple of 1024 bytes.

#pragma once

#include <cuda.h>

#include <cstdint>

#include "ops/attention_mma_cuda.cuh"

namespace buoy::ops {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define BUOY_HAS_WGMMA 1
#endif

// ---- barriers in shared memory: a phase ends when `count` arrivals and all announced bytes have come

__device__ inline void init_barrier(std::uint64_t* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(shared_address(barrier)), "r"(count));
}
__device__ inline void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}
__device__ inline void arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(shared_address(barrier)) : "memory");
}
// One arrival for a warp, when all its lanes have read what the barrier guards.
__device__ inline void arrive_as_warp(std::uint64_t* barrier) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) arrive(barrier);
}
__device__ inline void arrive_expecting(std::uint64_t* barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}
__device__ inline void wait_for(std::uint64_t* barrier, std::uint32_t phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(phase)
      : "memory");
}

// Barriers of whole warps, by number.
__device__ inline void meet(int number, int threads) {
  asm volatile("bar.sync %0, %1;\n" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline void arrive_at_meeting(int number, int threads) {
  asm volatile("bar.arrive %0, %1;\n" ::"r"(number), "r"(threads) : "memory");
}

// ---- copies by one thread

// Columns x.. of head y, rows z.. of a tensor [row][head][column].
__device__ inline void copy_tile(void* shared, const CUtensorMap* map, std::uint64_t* barrier, int x, int y,
                                 int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5}], "
      "[%2];\n" ::"r"(shared_address(shared)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
// A piece of plain memory, a multiple of 16 bytes at a multiple of 16.
__device__ inline void copy_bytes(void* shared, const void* global, std::uint64_t* barrier,
                                  std::uint32_t bytes) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %3, [%2];\n" ::"r"(
          shared_address(shared)),
      "l"(global), "r"(shared_address(barrier)), "r"(bytes)
      : "memory");
}

#ifdef BUOY_HAS_WGMMA

template <int kRegisters>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
}

// ---- products of a warpgroup: they run on while the warps do other things

__device__ inline void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}
__device__ inline void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}
// Returns when at most `kLeft` committed groups are still running.
template <int kLeft>
__device__ inline void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kLeft) : "memory");
}
// Keeps the compiler from using results before the wait that stands above.
template <typename T, int kSize>
__device__ inline void results_are_here(T (&values)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    if constexpr (sizeof(T) == sizeof(float) && !std::is_integral_v<T>) {
      asm volatile("" : "+f"(values[i])::"memory");
    } else {
      asm volatile("" : "+r"(values[i])::"memory");
    }
  }
}

// An operand in swizzled panels. `along` is the distance between panels where a product needs more than one
// of them at once (columns of the right operand), groups of eight rows are 1024 bytes apart.
__device__ inline std::uint64_t operand(const void* shared, std::uint32_t along = 0) {
  constexpr std::uint64_t kSwizzle128 = 1ull << 62;
  const std::uint64_t address = (shared_address(shared) & 0x3FFFF) >> 4;
  return address | static_cast<std::uint64_t>(along >> 4) << 16 |
         static_cast<std::uint64_t>(1024 >> 4) << 32 | kSwizzle128;
}
__device__ inline std::uint64_t moved_by(std::uint64_t descriptor, std::uint32_t bytes) {
  return descriptor + (bytes >> 4);
}

#define BUOY_OUT8(d, i)                                                                       \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define BUOY_OUT32(d, i) BUOY_OUT8(d, i), BUOY_OUT8(d, i + 8), BUOY_OUT8(d, i + 16), BUOY_OUT8(d, i + 24)
#define BUOY_NAMES8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define BUOY_NAMES32                                                                                     \
  BUOY_NAMES8                                                                                            \
  ", %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, " \
  "%28, %29, "                                                                                           \
  "%30, %31"
#define BUOY_NAMES64                                                                                       \
  BUOY_NAMES32                                                                                             \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, " \
  "%52, %53, "                                                                                             \
  "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// d [64, 128] = or += a [64, 16] b [128, 16]^T, both in shared memory with columns side by side.
__device__ inline void multiply_64x128(float (&d)[64], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" BUOY_NAMES64
      "}, %64, %65, p, 1, 1, 0, 0;\n"
      "}\n"
      : BUOY_OUT32(d, 0), BUOY_OUT32(d, 32)
      : "l"(a), "l"(b), "r"(add));
}

// d [64, n] += a [64, 16] b [16, n]: a in registers, b in shared memory with the n columns side by side.
__device__ inline void multiply_add_values(float (&d)[64], const std::uint32_t* a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" BUOY_NAMES64
               "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;\n"
               : BUOY_OUT32(d, 0), BUOY_OUT32(d, 32)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply_add_values(float (&d)[32], const std::uint32_t* a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" BUOY_NAMES32
               "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;\n"
               : BUOY_OUT32(d, 0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// d [64, 16] += a [64, 16] b [16, 16]^T: a in registers, b in shared memory with columns side by side.
__device__ inline void multiply_add_groups(float (&d)[8], const std::uint32_t* a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {" BUOY_NAMES8
               "}, {%8, %9, %10, %11}, %12, 1, 1, 1, 0;\n"
               : BUOY_OUT8(d, 0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// Weights as the left operand of the next product: four registers per 16 columns.
__device__ inline void pack_weights(std::uint32_t (&packed)[32], const float (&s)[64]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) packed[i] = pack_bf16(s[2 * i], s[2 * i + 1]);
}

#endif

}  // namespace buoy::ops

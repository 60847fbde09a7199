// WGMMA, Hopper's asynchronous warpgroup products, of tiles in swizzled panels (bulk_copy_cuda.cuh).

#pragma once

#include <cstdint>

#include "buoy/ops/device/bulk_copy_cuda.cuh"

namespace buoy::ops {

#ifdef BUOY_HAS_WGMMA

// Products of a warpgroup: they run on while the warps do other things

__device__ inline void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}
// Returns when at most `kLeft` committed groups are still running.
template <int kLeft>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kLeft) : "memory");
}
// Keeps the compiler from using results before the wait that stands above.
template <typename T, int kSize>
__device__ inline void wgmma_fence_results(T (&values)[kSize]) {
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

#define BUOY_NAMES16 BUOY_NAMES8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define BUOY_NAMES48 \
  BUOY_NAMES32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define BUOY_NAMES72 BUOY_NAMES64 ", %64, %65, %66, %67, %68, %69, %70, %71"

// d [64, n] = or += a [64, 16] b [n, 16]^T of few columns n, twice as many as d has numbers.
__device__ inline void multiply_tile(float (&d)[8], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {" BUOY_NAMES8
      "}, %8, %9, p, 1, 1, 0, 0;\n"
      "}\n"
      : BUOY_OUT8(d, 0)
      : "l"(a), "l"(b), "r"(add));
}
__device__ inline void multiply_tile(float (&d)[16], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {" BUOY_NAMES16
      "}, %16, %17, p, 1, 1, 0, 0;\n"
      "}\n"
      : BUOY_OUT8(d, 0), BUOY_OUT8(d, 8)
      : "l"(a), "l"(b), "r"(add));
}
__device__ inline void multiply_tile(float (&d)[32], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" BUOY_NAMES32
      "}, %32, %33, p, 1, 1, 0, 0;\n"
      "}\n"
      : BUOY_OUT32(d, 0)
      : "l"(a), "l"(b), "r"(add));
}
__device__ inline void multiply_tile(float (&d)[48], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %50, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16 {" BUOY_NAMES48
      "}, %48, %49, p, 1, 1, 0, 0;\n"
      "}\n"
      : BUOY_OUT32(d, 0), BUOY_OUT8(d, 32), BUOY_OUT8(d, 40)
      : "l"(a), "l"(b), "r"(add));
}
__device__ inline void multiply_tile(float (&d)[72], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %74, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n144k16.f32.bf16.bf16 {" BUOY_NAMES72
      "}, %72, %73, p, 1, 1, 0, 0;\n"
      "}\n"
      : BUOY_OUT32(d, 0), BUOY_OUT32(d, 32), BUOY_OUT8(d, 64)
      : "l"(a), "l"(b), "r"(add));
}

#define BUOY_NAMES96                                                                                       \
  BUOY_NAMES64                                                                                             \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, " \
  "%84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define BUOY_NAMES128                                                                                    \
  BUOY_NAMES96                                                                                           \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, " \
  "%113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// d [64, 192] = or += a [64, 16] b [192, 16]^T, likewise.
__device__ inline void multiply_tile(float (&d)[96], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {" BUOY_NAMES96
      "}, %96, %97, p, 1, 1, 0, 0;\n"
      "}\n"
      : BUOY_OUT32(d, 0), BUOY_OUT32(d, 32), BUOY_OUT32(d, 64)
      : "l"(a), "l"(b), "r"(add));
}
// d [64, 256] = or += a [64, 16] b [256, 16]^T, likewise.
__device__ inline void multiply_tile(float (&d)[128], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" BUOY_NAMES128
      "}, %128, %129, p, 1, 1, 0, 0;\n"
      "}\n"
      : BUOY_OUT32(d, 0), BUOY_OUT32(d, 32), BUOY_OUT32(d, 64), BUOY_OUT32(d, 96)
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

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
// of them at once (columns of the right operand), `groups` that between the groups of eight rows it takes:
// side by side, or every second one, in bytes.
__device__ inline std::uint64_t operand(const void* shared, std::uint32_t along = 0,
                                        std::uint32_t groups = 1024) {
  constexpr std::uint64_t kSwizzle128 = 1ull << 62;
  const std::uint64_t address = (shared_address(shared) & 0x3FFFF) >> 4;
  return address | static_cast<std::uint64_t>(along >> 4) << 16 |
         static_cast<std::uint64_t>(groups >> 4) << 32 | kSwizzle128;
}
__device__ inline std::uint64_t moved_by(std::uint64_t descriptor, std::uint32_t bytes) {
  return descriptor + (bytes >> 4);
}

#define BUOY_OUT4(how, d, i) how(d[i]), how(d[i + 1]), how(d[i + 2]), how(d[i + 3])
#define BUOY_OUT8(how, d, i) BUOY_OUT4(how, d, i), BUOY_OUT4(how, d, i + 4)
#define BUOY_OUT16(how, d, i) BUOY_OUT8(how, d, i), BUOY_OUT8(how, d, i + 8)
#define BUOY_OUT32(how, d, i) BUOY_OUT16(how, d, i), BUOY_OUT16(how, d, i + 16)
#define BUOY_OUT64(how, d) BUOY_OUT32(how, d, 0), BUOY_OUT32(how, d, 32)
#define BUOY_NAMES4 "%0, %1, %2, %3"
#define BUOY_NAMES8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define BUOY_NAMES16 BUOY_NAMES8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define BUOY_NAMES24 BUOY_NAMES16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define BUOY_NAMES32 BUOY_NAMES24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define BUOY_NAMES40 BUOY_NAMES32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define BUOY_NAMES48 BUOY_NAMES40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define BUOY_NAMES52 BUOY_NAMES48 ", %48, %49, %50, %51"
#define BUOY_NAMES56 BUOY_NAMES52 ", %52, %53, %54, %55"
#define BUOY_NAMES60 BUOY_NAMES56 ", %56, %57, %58, %59"
#define BUOY_NAMES64 BUOY_NAMES60 ", %60, %61, %62, %63"
#define BUOY_NAMES68 BUOY_NAMES64 ", %64, %65, %66, %67"
#define BUOY_NAMES72 BUOY_NAMES68 ", %68, %69, %70, %71"
#define BUOY_NAMES76 BUOY_NAMES72 ", %72, %73, %74, %75"
#define BUOY_NAMES96 \
  BUOY_NAMES76       \
  ", %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define BUOY_NAMES128                                                                                    \
  BUOY_NAMES96                                                                                           \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, " \
  "%113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define BUOY_ALL4(how, d) BUOY_OUT4(how, d, 0)
#define BUOY_ALL8(how, d) BUOY_OUT8(how, d, 0)
#define BUOY_ALL16(how, d) BUOY_OUT16(how, d, 0)
#define BUOY_ALL24(how, d) BUOY_OUT16(how, d, 0), BUOY_OUT8(how, d, 16)
#define BUOY_ALL32(how, d) BUOY_OUT32(how, d, 0)
#define BUOY_ALL40(how, d) BUOY_OUT32(how, d, 0), BUOY_OUT8(how, d, 32)
#define BUOY_ALL48(how, d) BUOY_OUT32(how, d, 0), BUOY_OUT16(how, d, 32)
#define BUOY_ALL52(how, d) BUOY_OUT32(how, d, 0), BUOY_OUT16(how, d, 32), BUOY_OUT4(how, d, 48)
#define BUOY_ALL56(how, d) BUOY_OUT32(how, d, 0), BUOY_OUT16(how, d, 32), BUOY_OUT8(how, d, 48)
#define BUOY_ALL60(how, d) \
  BUOY_OUT32(how, d, 0), BUOY_OUT16(how, d, 32), BUOY_OUT8(how, d, 48), BUOY_OUT4(how, d, 56)
#define BUOY_ALL64(how, d) BUOY_OUT64(how, d)
#define BUOY_ALL68(how, d) BUOY_OUT64(how, d), BUOY_OUT4(how, d, 64)
#define BUOY_ALL72(how, d) BUOY_OUT64(how, d), BUOY_OUT8(how, d, 64)
#define BUOY_ALL76(how, d) BUOY_OUT64(how, d), BUOY_OUT8(how, d, 64), BUOY_OUT4(how, d, 72)
#define BUOY_ALL96(how, d) BUOY_OUT64(how, d), BUOY_OUT32(how, d, 64)
#define BUOY_ALL128(how, d) BUOY_OUT64(how, d), BUOY_OUT32(how, d, 64), BUOY_OUT32(how, d, 96)

// d [64, n] = or += a [64, 16] b [n, 16]^T, both in shared memory with columns side by side; n is twice as
// many as d has numbers. multiply_tile_anew: =, whatever d holds, so that no compiler keeps it.
#define BUOY_MULTIPLY_TILE(columns, numbers, left, right, adds)                                         \
  __device__ inline void multiply_tile(float(&d)[numbers], std::uint64_t a, std::uint64_t b, int add) { \
    asm volatile(                                                                                       \
        "{\n"                                                                                           \
        ".reg .pred p;\n"                                                                               \
        "setp.ne.b32 p, %" #adds                                                                        \
        ", 0;\n"                                                                                        \
        "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" BUOY_NAMES##numbers          \
        "}, %" #left ", %" #right                                                                       \
        ", p, 1, 1, 0, 0;\n"                                                                            \
        "}\n"                                                                                           \
        : BUOY_ALL##numbers("+f", d)                                                                    \
        : "l"(a), "l"(b), "r"(add));                                                                    \
  }                                                                                                     \
  __device__ inline void multiply_tile_anew(float(&d)[numbers], std::uint64_t a, std::uint64_t b) {     \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" BUOY_NAMES##numbers \
                 "}, %" #left ", %" #right ", 0, 1, 1, 0, 0;\n"                                         \
                 : BUOY_ALL##numbers("=f", d)                                                           \
                 : "l"(a), "l"(b));                                                                     \
  }
BUOY_MULTIPLY_TILE(8, 4, 4, 5, 6)
BUOY_MULTIPLY_TILE(16, 8, 8, 9, 10)
BUOY_MULTIPLY_TILE(32, 16, 16, 17, 18)
BUOY_MULTIPLY_TILE(48, 24, 24, 25, 26)
BUOY_MULTIPLY_TILE(64, 32, 32, 33, 34)
BUOY_MULTIPLY_TILE(80, 40, 40, 41, 42)
BUOY_MULTIPLY_TILE(96, 48, 48, 49, 50)
BUOY_MULTIPLY_TILE(104, 52, 52, 53, 54)
BUOY_MULTIPLY_TILE(112, 56, 56, 57, 58)
BUOY_MULTIPLY_TILE(120, 60, 60, 61, 62)
BUOY_MULTIPLY_TILE(128, 64, 64, 65, 66)
BUOY_MULTIPLY_TILE(136, 68, 68, 69, 70)
BUOY_MULTIPLY_TILE(144, 72, 72, 73, 74)
BUOY_MULTIPLY_TILE(152, 76, 76, 77, 78)
BUOY_MULTIPLY_TILE(192, 96, 96, 97, 98)
BUOY_MULTIPLY_TILE(256, 128, 128, 129, 130)
#undef BUOY_MULTIPLY_TILE

// d [64, n] += a [64, 16] b [16, n]: a in registers, b in shared memory with the n columns side by side.
__device__ inline void multiply_add_values(float (&d)[64], const std::uint32_t* a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" BUOY_NAMES64
               "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;\n"
               : BUOY_OUT64("+f", d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ inline void multiply_add_values(float (&d)[32], const std::uint32_t* a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" BUOY_NAMES32
               "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;\n"
               : BUOY_OUT32("+f", d, 0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// d [64, 16] += a [64, 16] b [16, 16]^T: a in registers, b in shared memory with columns side by side.
__device__ inline void multiply_add_groups(float (&d)[8], const std::uint32_t* a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {" BUOY_NAMES8
               "}, {%8, %9, %10, %11}, %12, 1, 1, 1, 0;\n"
               : BUOY_OUT8("+f", d, 0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// Weights as the left operand of the next product: four registers per 16 columns.
__device__ inline void pack_weights(std::uint32_t (&packed)[32], const float (&s)[64]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) packed[i] = pack_bf16(s[2 * i], s[2 * i + 1]);
}

#endif

}  // namespace buoy::ops

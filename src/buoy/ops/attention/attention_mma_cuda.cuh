// Tensor-core products of one warp (m16n8k16, bf16 in, float32 out) and the copies that feed them; any GPU
// since Ampere. Rows and columns of a fragment: lane = 4 * row + column / 2.

#pragma once

#include <cstdint>

#include "buoy/ops/device/bf16.cuh"

namespace buoy::ops {

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// Copies 16 bytes in the background.
__device__ inline void copy_async(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(shared_address(shared)), "l"(global));
}
// The same to a shared_address(), or 16 bytes of zeros, and nothing is read.
__device__ inline void copy_async_or_zero(std::uint32_t shared, const void* global, bool copied) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared), "l"(global),
               "r"(copied ? 16 : 0));
}
// The same by a policy, where `number` is below `end`: by a predicate, so that nothing branches between
// copies.
__device__ inline void copy_async_below(int number, int end, std::uint64_t policy, std::uint32_t shared,
                                        const void* global, bool copied) {
  asm volatile(
      "{\n"
      ".reg .pred below;\n"
      "setp.lt.s32 below, %4, %5;\n"
      "@below cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;\n"
      "}\n" ::"r"(shared),
      "l"(global), "r"(copied ? 16 : 0), "l"(policy), "r"(number), "r"(end));
}
// Two floats.
__device__ inline void copy_two_or_zeros(std::uint32_t shared, const float* global, bool copied) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;\n" ::"r"(shared), "l"(global),
               "r"(copied ? 8 : 0));
}
__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;\n" ::);
}
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group 0;\n" ::: "memory");
}

__device__ inline void load_matrices(std::uint32_t (&out)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row)));
}
__device__ inline void load_matrices_transposed(std::uint32_t (&out)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row)));
}

// sums += a b
__device__ inline void multiply_add(float* sums, const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};\n"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 2^x; 0 for minus infinity.
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
  return y;
}

// Numbers column..column + 7 of a row in global memory, zeros beyond head_dim.
__device__ inline uint4 load_eight(const __nv_bfloat16* row, int column, int head_dim, bool aligned) {
  if (column >= head_dim) return uint4{0, 0, 0, 0};
  if (aligned) return __ldg(reinterpret_cast<const uint4*>(row + column));
  std::uint32_t pair[4] = {};
  for (int i = 0; i < 4; ++i) {
    if (column + 2 * i < head_dim) pair[i] = *reinterpret_cast<const std::uint32_t*>(row + column + 2 * i);
  }
  return uint4{pair[0], pair[1], pair[2], pair[3]};
}

// A row of up to 128 numbers, shared by the four lanes of a quad: lane q has columns 8 q..8 q + 7 of
// every 32. A product sums its terms in any order as long as both factors do, so the first four numbers of
// each eight can go to one product of depth 16 and the last four to the next: fragments come straight from
// global memory, 16 bytes a load.
struct QuadRow {
  static constexpr int kPieces = 4;
  uint4 piece[kPieces];

  __device__ void load(const __nv_bfloat16* row, int head_dim, bool aligned) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
      piece[i] = load_eight(row, 32 * i + threadIdx.x % 4 * 8, head_dim, aligned);
  }
  __device__ void unpack(int i, float (&out)[8]) const {
    const std::uint32_t pairs[4] = {piece[i].x, piece[i].y, piece[i].z, piece[i].w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      out[2 * e] = __uint_as_float(pairs[e] << 16);
      out[2 * e + 1] = __uint_as_float(pairs[e] & 0xFFFF0000u);
    }
  }
};

// sums [16, 8] += rows of `first` and of `second` (rows 0..7 and 8..15) times those of `right`.
__device__ inline void multiply_add_rows(float* sums, const QuadRow& first, const QuadRow& second,
                                         const QuadRow& right) {
#pragma unroll
  for (int i = 0; i < QuadRow::kPieces; ++i) {
    const uint4 a = first.piece[i], b = second.piece[i], r = right.piece[i];
    multiply_add(sums, {a.x, b.x, a.y, b.y}, r.x, r.y);
    multiply_add(sums, {a.z, b.z, a.w, b.w}, r.z, r.w);
  }
}

// A tile of rows in shared memory, each row 16 bytes longer than its numbers so that the eight rows of a
// matrix lie in different banks. `kColumns` is head_dim rounded up; what is beyond head_dim or the last row
// is zero.
template <int kRows, int kColumns, int kThreads>
struct SharedTile {
  static constexpr int kStride = kColumns + 8;
  __nv_bfloat16 data[kRows * kStride];

  __device__ const __nv_bfloat16* at(int row, int column) const { return data + row * kStride + column; }

  struct Source {
    const __nv_bfloat16* first;  // element 0 of row 0
    std::int64_t stride;
    int rows, columns;  // that exist
    bool aligned;       // to 16 bytes, in columns too
  };
  __device__ void load(const Source& source) {
    constexpr int kPieces = kColumns / 8;
    for (int i = threadIdx.x; i < kRows * kPieces; i += kThreads) {
      const int row = i / kPieces, column = i % kPieces * 8;
      __nv_bfloat16* to = data + row * kStride + column;
      const __nv_bfloat16* from = source.first + row * source.stride + column;
      if (row >= source.rows || column >= source.columns) {
        *reinterpret_cast<uint4*>(to) = uint4{0, 0, 0, 0};
      } else if (source.aligned) {
        copy_async(to, from);
      } else {
        for (int e = 0; e < 8; ++e) to[e] = column + e < source.columns ? from[e] : __nv_bfloat16(0.0f);
      }
    }
  }

  // The left operand: rows first..first + 15, columns k..k + 15.
  __device__ void left(std::uint32_t (&out)[4], int first, int k) const {
    const int lane = threadIdx.x % 32;
    load_matrices(out, at(first + lane % 16, k + lane / 16 * 8));
  }
  // The right operand of a product with this tile transposed: two fragments {out[0], out[1]}, {out[2],
  // out[3]} of rows first..first + 7 and first + 8..first + 15.
  __device__ void right_of_rows(std::uint32_t (&out)[4], int first, int k) const {
    const int lane = threadIdx.x % 32;
    load_matrices(out, at(first + lane % 8 + lane / 16 * 8, k + lane / 8 % 2 * 8));
  }
  // The right operand of a product with this tile: columns first..first + 7 and first + 8..first + 15.
  __device__ void right_of_columns(std::uint32_t (&out)[4], int k, int first) const {
    const int lane = threadIdx.x % 32;
    load_matrices_transposed(out, at(k + lane % 16, first + lane / 16 * 8));
  }
};

}  // namespace buoy::ops

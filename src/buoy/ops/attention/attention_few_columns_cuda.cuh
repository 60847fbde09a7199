// How few rows of the heads that share keys become the columns of one product: column = head * kRows + row,
// with kRows a power of two. And how sums over the rows of a head find the lane that owns the head: each lane
// of a quad owns kHeads / 4 of them.

#pragma once

#include "buoy/ops/attention/attention_mma_cuda.cuh"

namespace buoy::ops {

template <int kRows, int kHeads>
struct FewColumns {
  static constexpr int kMostRows = kRows, kColumns = kRows * kHeads;
  static constexpr int kTiles = kColumns < 16 ? 1 : 2;  // of eight columns, in one product
  static constexpr int kChunk = 8 * kTiles, kChunks = kColumns / kChunk;
  static constexpr int kHeadsOfChunk = kRows < kChunk ? kChunk / kRows : 1;
  static constexpr int kChunksOfHead = kRows > kChunk ? kRows / kChunk : 1;
  static constexpr int kOwn = kHeads / 4;
  static_assert(kHeads % 4 == 0 && kColumns % 8 == 0 && (kRows & (kRows - 1)) == 0 && kRows <= 32);

  // The head that is number `own` of those of lane `quad` of a quad.
  __host__ __device__ static constexpr int head_of(int quad, int own) {
    if (kRows == 1) return 2 * quad + own;
    if (kRows == 4) return 4 * own + quad / 2 + 2 * (quad % 2);
    return quad + 4 * own;
  }

  // What a thread has of its two keys in a chunk, value 4 t + 2 r + e: column 8 t + 2 (lane % 4) + e of key
  // r. Sums over the rows of each head go to the lane that owns it. For kRows below 16.
  __device__ static void give(const float (&values)[4 * kTiles], int chunk, float (&own)[kOwn][2]) {
    static_assert(kRows < 16);
    const int quad = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if constexpr (kRows == 1) {
        own[0][r] = values[2 * r], own[kOwn - 1][r] = values[2 * r + 1];
      } else {
        float sums[kTiles];
#pragma unroll
        for (int t = 0; t < kTiles; ++t) {
          sums[t] = values[4 * t + 2 * r] + values[4 * t + 2 * r + 1];
          if (kRows >= 4) sums[t] += __shfl_xor_sync(~0u, sums[t], 1);
          if (kRows >= 8) sums[t] += __shfl_xor_sync(~0u, sums[t], 2);
        }
        if constexpr (kRows == 2) {
#pragma unroll
          for (int o = 0; o < kOwn; ++o) own[o][r] = sums[o];
        } else if constexpr (kRows == 4) {
          const float sum = quad % 2 == 0 ? sums[0] : sums[kTiles - 1];
#pragma unroll
          for (int o = 0; o < kOwn; ++o) own[o][r] = o == chunk ? sum : own[o][r];
        } else {
#pragma unroll
          for (int t = 0; t < kTiles; ++t) {
            const int head = 2 * chunk + t;
#pragma unroll
            for (int o = 0; o < kOwn; ++o) own[o][r] = head == head_of(quad, o) ? sums[t] : own[o][r];
          }
        }
      }
    }
  }

  // The same where a head has several chunks: what a thread has summed up over them.
  __device__ static void give_head(const float (&sums)[2], int head, float (&own)[kOwn][2]) {
    static_assert(kRows >= 16);
    const int quad = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float sum = sums[r];
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
#pragma unroll
      for (int o = 0; o < kOwn; ++o) own[o][r] = head == head_of(quad, o) ? sum : own[o][r];
    }
  }
};

// Where number `at` of a column is: pieces of sixteen bytes of odd columns change places, which keeps banks
// apart.
__device__ inline int place_in_column(int column, int at) {
  return at ^ column % 2 * 32;
}

// Four numbers of each lane of a quad: lane q gets the sum over the lanes of number q.
__device__ inline float sum_to_owner(const float (&numbers)[4]) {
  const bool upper = (threadIdx.x & 2) != 0, odd = (threadIdx.x & 1) != 0;
  float first = upper ? numbers[2] : numbers[0], second = upper ? numbers[3] : numbers[1];
  first += __shfl_xor_sync(~0u, upper ? numbers[0] : numbers[2], 2);
  second += __shfl_xor_sync(~0u, upper ? numbers[1] : numbers[3], 2);
  return (odd ? second : first) + __shfl_xor_sync(~0u, odd ? first : second, 1);
}

}  // namespace buoy::ops

// The running softmax of the two rows a thread shares with the three others of its quad. Scores come as the
// accumulators of a tensor-core product: s[4 t + 2 r + i] is column 8 t + 2 (lane % 4) + i of row r.
// Everything is in units of log2, so that the exponential is one instruction.

#pragma once

#include <cfloat>
#include <cstdint>

#include "buoy/ops/attention/attention_mma_cuda.cuh"
#include "buoy/ops/attention/attention_plan_cuda.cuh"
#include "buoy/ops/moments/qk_moments_fused_cuda.cuh"

namespace buoy::ops {

// What forward kernels are told.
struct ForwardArgs {
  const DeviceSequence* sequences;
  const Tile* tiles;
  const Bf16 *queries, *keys, *values;
  std::int64_t query_stride, key_stride, value_stride;
  const float* key_bias;
  std::int64_t key_bias_stride;  // between heads
  const float* head_scale;
  Bf16* output;
  std::int64_t output_stride;
  float *log_sum_exp, *entropy;  // [heads, rows]
  float* row_shift;              // [heads, padded_rows]
  int rows, padded_rows, heads_per_key_head, head_dim;
  float scale;    // of the scores, log2(e) / sqrt(head_dim)
  bool aligned;   // all rows start at multiples of 16 bytes
  int splits;     // parts the keys are divided into, for sequences of few rows
  int few_tiles;  // of kFewTileRows, of the rows of all heads that share keys
  float* parts;   // [tiles, key heads, splits, few_tiles * kFewTileRows, kPartWidth]
  RidingSums moments;
};

// Finite, so that it times zero is zero.
inline constexpr float kHiddenScore = -1e30f;
inline constexpr float kSeesNothing = -1e27f;  // tops below this come from hidden keys alone
inline constexpr float kLog2E = 1.4426950408889634f, kLn2 = 0.6931471805599453f;

__device__ inline float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ inline float quad_sum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

// Hides the columns at and after end[r] of a tile whose first column is `first`.
template <int kSize>
__device__ inline void hide_columns(float (&s)[kSize], int first, const int (&end)[2]) {
  const int column = first + threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    if (column + i / 4 * 8 + i % 2 >= end[i / 2 % 2]) s[i] = kHiddenScore;
  }
}

// Scales the scores and adds the bias of each column; after it the scale is 1. `bias` is that of the tile's
// first column, of which `count` exist.
template <int kSize>
__device__ inline void add_bias(float (&s)[kSize], const float* bias, int count, float scale) {
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int t = 0; t < kSize / 4; ++t) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = column + t * 8 + i;
      const float added = at < count ? fmaxf(bias[at] * kLog2E, kHiddenScore) : 0.0f;
#pragma unroll
      for (int r = 0; r < 2; ++r) s[4 * t + 2 * r + i] = fmaf(s[4 * t + 2 * r + i], scale, added);
    }
  }
}

// What is left of a row's scores: the largest, and the sums of RunningSoftmax over all columns.
struct RowSums {
  float top, sum, weighted;
};

// Writes what is known of a row of the sequence, if `writes`, and returns the factor of its output.
template <bool kEntropy>
__device__ inline float finish_row(const RowSums& known, const ForwardArgs& args,
                                   const DeviceSequence& sequence, int head, int row, bool writes) {
  const bool exists = row < sequence.query_rows, sees = exists && known.top > kSeesNothing;
  if (writes) {
    const float log_sum = log2f(known.sum);
    args.row_shift[static_cast<std::int64_t>(head) * args.padded_rows + sequence.padded_start + row] =
        sees ? known.top + log_sum : INFINITY;
    const std::int64_t at = static_cast<std::int64_t>(head) * args.rows + sequence.query_start + row;
    if (exists && args.log_sum_exp != nullptr)
      args.log_sum_exp[at] = sees ? (known.top + log_sum) * kLn2 : -INFINITY;
    if (kEntropy && exists && args.entropy != nullptr)
      args.entropy[at] = sees ? fmaxf(0.0f, (log_sum - known.weighted / known.sum) * kLn2) : 0.0f;
  }
  if (!sees) return 0.0f;
  return (args.head_scale != nullptr ? args.head_scale[head] : 1.0f) / known.sum;
}

template <bool kEntropy>
struct RunningSoftmax {
  // How far scores may rise above `top` before it follows them: weights up to 2^8 are as exact as those up to
  // 1, and after the first tile there is hardly ever anything to rescale.
  static constexpr float kSlack = 8;
  float top[2] = {kHiddenScore, kHiddenScore};
  float sum[2] = {0, 0};       // of 2^(score - top), this thread's columns alone
  float weighted[2] = {0, 0};  // of 2^(score - top) (score - top)

  // Scores become weights; what was summed before has to be multiplied by `rescale`, which is 1 in the whole
  // warp if this returns false.
  template <int kSize>
  __device__ bool take(float (&s)[kSize], float scale, float (&rescale)[2]) {
    bool follows = false;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float largest = s[2 * r];
#pragma unroll
      for (int t = 0; t < kSize / 4; ++t)
        largest = fmaxf(largest, fmaxf(s[4 * t + 2 * r], s[4 * t + 2 * r + 1]));
      const float found = quad_max(largest) * scale;
      const float new_top = found > top[r] + kSlack ? found : top[r];
      follows = follows || found > top[r] + kSlack;
      rescale[r] = exp2_approx(top[r] - new_top);
      if (kEntropy) weighted[r] = rescale[r] * fmaf(sum[r], top[r] - new_top, weighted[r]);
      sum[r] *= rescale[r];
      top[r] = new_top;
      // Where nothing is seen yet, hidden scores must not be measured against themselves.
      const float shift = new_top > kSeesNothing ? new_top : 0.0f;
#pragma unroll
      for (int t = 0; t < kSize / 4; ++t) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float below = fmaf(s[4 * t + 2 * r + i], scale, -shift);
          const float weight = exp2_approx(below);
          sum[r] += weight;
          if (kEntropy) weighted[r] = fmaf(weight, below, weighted[r]);
          s[4 * t + 2 * r + i] = weight;
        }
      }
    }
    return __any_sync(~0u, follows);
  }

  __device__ RowSums row(int r) const {
    return {top[r], quad_sum(sum[r]), kEntropy ? quad_sum(weighted[r]) : 0.0f};
  }
};

}  // namespace buoy::ops

// The best of a row's logits, found in the sums of the head's product while they are in registers.

#pragma once

#include <cstdint>

#include "buoy/ops/attention/attention_mma_cuda.cuh"
#include "buoy/ops/sampling/choice.h"

namespace buoy::ops {

inline constexpr float kLog2e = 1.44269504f;

struct BestToFind {
  StretchBest* output;       // [rows, stretches]
  int rows, stretches, end;  // columns
  const ChoiceRule* rules;
  int ruled_rows;
  std::int32_t* flag;
  std::int32_t code;
};

// Of the ids of two lanes together.
__device__ inline StretchBest better(const StretchBest& a, const StretchBest& b) {
  const bool b_wins = b.largest > a.largest || (b.largest == a.largest && b.id < a.id);
  const float largest = fmaxf(a.largest, b.largest), other = fminf(a.largest, b.largest);
  // A lane without any logit adds none; else the exponent is finite.
  const auto share = [&](const StretchBest& one) {
    return one.sum > 0.0f ? one.sum * exp2_approx((one.largest - largest) * kLog2e) : 0.0f;
  };
  return {largest, fmaxf(other, fmaxf(a.second, b.second)), b_wins ? b.id : a.id, share(a) + share(b)};
}

// A warpgroup's sums [64, 256]: a lane holds two neighbours of every eight columns in two rows.
__device__ inline void find_best(float (&sums)[128], const BestToFind& to_find, int first_row, int stretch) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, first_id = stretch * 256 + lane % 4 * 2;
  float not_finite = 0.0f;  // a NaN when any number is not
#pragma unroll
  for (int i = 0; i < 128; ++i) not_finite += sums[i] * 0.0f;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = first_row + warp * 16 + lane / 4 + 8 * h;
    const int forbidden = row < to_find.ruled_rows ? to_find.rules[row].forbidden - first_id : -1;
    const int end = to_find.end - first_id;
    const auto drop = [&](auto dropped) {
#pragma unroll
      for (int i = 0; i < 64; ++i) {
        if (dropped(i / 2 * 8 + i % 2)) sums[i / 2 * 4 + 2 * h + i % 2] = -INFINITY;
      }
    };
    if (forbidden >= 0 && forbidden < 256) drop([&](int column) { return column == forbidden; });
    if (end < 256) drop([&](int column) { return column >= end; });

    StretchBest best = {-INFINITY, -INFINITY, INT32_MAX, 0.0f};
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      const float logit = sums[i / 2 * 4 + 2 * h + i % 2];
      best.second = fmaxf(best.second, fminf(best.largest, logit));
      if (logit > best.largest) {
        best.largest = logit;
        best.id = first_id + i / 2 * 8 + i % 2;
      }
    }
    if (best.largest > -INFINITY) {
      const float peak = best.largest * kLog2e;
#pragma unroll
      for (int i = 0; i < 64; ++i)
        best.sum += exp2_approx(fmaf(sums[i / 2 * 4 + 2 * h + i % 2], kLog2e, -peak));
    }
#pragma unroll
    for (int offset = 1; offset < 4; offset *= 2) {
      best = better(best, {__shfl_xor_sync(0xffffffffu, best.largest, offset),
                           __shfl_xor_sync(0xffffffffu, best.second, offset),
                           __shfl_xor_sync(0xffffffffu, best.id, offset),
                           __shfl_xor_sync(0xffffffffu, best.sum, offset)});
    }
    if (lane % 4 == 0 && row < to_find.rows)
      to_find.output[static_cast<std::int64_t>(row) * to_find.stretches + stretch] = best;
  }
  if (not_finite != not_finite) atomicMin(to_find.flag, to_find.code);
}

}  // namespace buoy::ops

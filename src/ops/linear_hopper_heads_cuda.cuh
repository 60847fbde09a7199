// What finish_qkv_cuda does (rope_cuda.h), on the sums of a product while they are in registers.

#pragma once

#include <cstdint>

#include "ops/rope_cuda.h"

namespace buoy::ops {

struct HeadsToFinish {
  int rows, first_key, first_value, end;  // columns: queries, keys, values
  const float *cosines, *sines;           // [positions, head_dim / 2]
  const std::int32_t* positions;          // [rows]
  const float *bias, *query_norm, *key_norm;
  float eps;
  std::int32_t* flag;
  std::int32_t code;
};

// A warpgroup's sums [64, 256]: a lane holds two neighbours of every eight columns in two rows, so that it
// has both numbers that turn with each other, and four lanes have a row of a head.
template <int kDim>
__device__ void finish_heads(float (&sums)[128], const HeadsToFinish& heads, int first_row,
                             int first_column) {
  constexpr int kBlocks = kDim / 8, kTurning = kBlocks / 2;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, q = lane % 4;
  if (first_column >= heads.first_value && heads.bias == nullptr) return;
  float not_finite = 0.0f;  // a NaN when any number is not
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = first_row + warp * 16 + lane / 4 + 8 * h;
    const std::int64_t angle =
        row < heads.rows ? static_cast<std::int64_t>(heads.positions[row]) * (kDim / 2) : 0;
    const auto *cosines = reinterpret_cast<const float2*>(heads.cosines + angle) + q,
               *sines = reinterpret_cast<const float2*>(heads.sines + angle) + q;
    float2 cosine[kTurning], sine[kTurning];
#pragma unroll
    for (int i = 0; i < kTurning; ++i) cosine[i] = cosines[4 * i], sine[i] = sines[4 * i];
#pragma unroll
    for (int head = 0; head < 256 / kDim; ++head) {
      const int column = first_column + head * kDim;
      if (column >= heads.end) continue;
      // Two neighbours of block `block` of this head.
      const auto at = [&](int block) -> float* { return sums + 4 * (head * kBlocks + block) + 2 * h; };
      if (heads.bias != nullptr) {
#pragma unroll
        for (int i = 0; i < kBlocks; ++i) {
          const float2 bias = *reinterpret_cast<const float2*>(heads.bias + column + 8 * i + 2 * q);
          at(i)[0] += bias.x, at(i)[1] += bias.y;
        }
      }
      if (column >= heads.first_value) continue;
      const float* norm = column < heads.first_key ? heads.query_norm : heads.key_norm;
      if (norm != nullptr) {
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < kBlocks; ++i) sum += at(i)[0] * at(i)[0] + at(i)[1] * at(i)[1];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        const float factor = rsqrtf(sum / kDim + heads.eps);
#pragma unroll
        for (int i = 0; i < kBlocks; ++i) {
          const float2 weight = *reinterpret_cast<const float2*>(norm + 8 * i + 2 * q);
          at(i)[0] *= factor * weight.x, at(i)[1] *= factor * weight.y;
        }
      }
#pragma unroll
      for (int i = 0; i < kTurning; ++i) {
        float *low = at(i), *high = at(i + kTurning);
        const float2 a = {low[0], low[1]}, b = {high[0], high[1]};
        low[0] = a.x * cosine[i].x - b.x * sine[i].x;
        low[1] = a.y * cosine[i].y - b.y * sine[i].y;
        high[0] = b.x * cosine[i].x + a.x * sine[i].x;
        high[1] = b.y * cosine[i].y + a.y * sine[i].y;
        not_finite += (low[0] + low[1]) * 0.0f + (high[0] + high[1]) * 0.0f;
      }
    }
  }
  if (not_finite != not_finite) atomicMin(heads.flag, heads.code);
}

}  // namespace buoy::ops

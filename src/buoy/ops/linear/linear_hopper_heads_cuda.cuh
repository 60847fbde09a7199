// What finish_qkv_cuda does (rope_cuda.h), on the sums of a product while they are in registers.

#pragma once

#include <cstdint>

#include "buoy/ops/pointwise/rope_cuda.h"

namespace buoy::ops {

struct HeadsToFinish {
  int rows, first_key, first_value, end;  // columns: queries, keys, values
  const float *cosines, *sines;           // [positions, head_dim / 2]
  const float* query_scales;              // [positions], or null: factors on queries; keys have the next
  float key_scale;
  const std::int32_t* positions;  // [rows]
  const float *bias, *query_norm, *key_norm;
  float eps;
  std::int32_t* flag;
  std::int32_t code;
};

// A lane holds two neighbours of every eight columns of two rows, so that it has both numbers that turn with
// each other; four lanes have a row of a head. These are the cosines and sines of one of its rows.
template <int kDim>
struct RowAngles {
  static constexpr int kTurning = kDim / 16;
  float2 cosine[kTurning], sine[kTurning];

  // Row half `h` of the warpgroup's 64 rows from `first_row` on.
  __device__ void load(const HeadsToFinish& heads, int first_row, int h) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, q = lane % 4;
    const int row = first_row + warp * 16 + lane / 4 + 8 * h;
    const std::int64_t angle =
        row < heads.rows ? static_cast<std::int64_t>(heads.positions[row]) * (kDim / 2) : 0;
    const auto *cosines = reinterpret_cast<const float2*>(heads.cosines + angle) + q,
               *sines = reinterpret_cast<const float2*>(heads.sines + angle) + q;
#pragma unroll
    for (int i = 0; i < kTurning; ++i) cosine[i] = cosines[4 * i], sine[i] = sines[4 * i];
  }
};

// Of row half `h`; a row that is none has the factor of position 0.
__device__ inline float query_scale(const HeadsToFinish& heads, int first_row, int h) {
  const int row = first_row + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4 + 8 * h;
  return heads.query_scales[row < heads.rows ? heads.positions[row] : 0];
}

// Turns row half `h` of the head whose first eight columns are `first_block` of the sums. Returns a NaN when
// a number is not finite, else 0.
template <int kDim>
__device__ float turn_head(float (&sums)[128], const RowAngles<kDim>& angles, int first_block, int h) {
  constexpr int kTurning = RowAngles<kDim>::kTurning;
  float not_finite = 0.0f;
#pragma unroll
  for (int i = 0; i < kTurning; ++i) {
    float *low = sums + 4 * (first_block + i) + 2 * h, *high = low + 4 * kTurning;
    const float2 a = {low[0], low[1]}, b = {high[0], high[1]};
    const float2 cosine = angles.cosine[i], sine = angles.sine[i];
    low[0] = a.x * cosine.x - b.x * sine.x;
    low[1] = a.y * cosine.y - b.y * sine.y;
    high[0] = b.x * cosine.x + a.x * sine.x;
    high[1] = b.y * cosine.y + a.y * sine.y;
    not_finite += (low[0] + low[1]) * 0.0f + (high[0] + high[1]) * 0.0f;
  }
  return not_finite;
}

// A warpgroup's sums [64, 256], whole heads, of rows from `first_row` on. `angles` are those of both rows.
template <int kDim>
__device__ void finish_heads(float (&sums)[128], const HeadsToFinish& heads,
                             const RowAngles<kDim> (&angles)[2], int first_row, int first_column) {
  constexpr int kBlocks = kDim / 8;
  const int q = threadIdx.x % 4;
  if (first_column >= heads.first_value && heads.bias == nullptr) return;
  float not_finite = 0.0f;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
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
      if (heads.query_scales != nullptr) {
        const float factor = column < heads.first_key ? query_scale(heads, first_row, h) : heads.key_scale;
#pragma unroll
        for (int i = 0; i < kBlocks; ++i) at(i)[0] *= factor, at(i)[1] *= factor;
      }
      not_finite += turn_head<kDim>(sums, angles[h], head * kBlocks, h);
    }
  }
  if (not_finite != not_finite) atomicMin(heads.flag, heads.code);
}

}  // namespace buoy::ops

// What the experts of a row return, added up by slot and to what stands in the output.

#pragma once

#include "buoy/ops/device/bf16.cuh"

namespace buoy::ops {

struct ReturnedSums {
  const uint4* returned;      // bf16 [pairs, 8 * pieces]
  const std::int32_t* place;  // [rows * chosen]: where a pair stands among them
  const float* weights;       // [rows * chosen]
  int chosen, pieces;
  std::int64_t rows;
  float4* output;  // [rows, 8 * pieces]
};

#ifdef __CUDACC__

// Eight numbers of a row. All that is returned is asked for before it is summed, kTogether slots at once.
template <int kTogether>
__device__ void add_returned_piece(const ReturnedSums& all, std::int64_t row, int piece) {
  float4* const output = all.output + 2 * (row * all.pieces + piece);
  float4 low = output[0], high = output[1];
  float sums[8] = {};
  for (int first = 0; first < all.chosen; first += kTogether) {
    const auto inside = [&](int n) { return first + n < all.chosen; };
    const std::int64_t pair = row * all.chosen + first;
    int at[kTogether];
    uint4 eight[kTogether];
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      if (inside(n)) at[n] = all.place[pair + n];
    }
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      if (inside(n)) eight[n] = __ldcs(all.returned + static_cast<std::int64_t>(at[n]) * all.pieces + piece);
    }
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      if (!inside(n)) continue;
      const float weight = all.weights[pair + n];
      const std::uint32_t words[4] = {eight[n].x, eight[n].y, eight[n].z, eight[n].w};
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const float2 two = unpack_bf16(words[w]);
        sums[2 * w] += weight * two.x;
        sums[2 * w + 1] += weight * two.y;
      }
    }
  }
  low.x += sums[0], low.y += sums[1], low.z += sums[2], low.w += sums[3];
  high.x += sums[4], high.y += sums[5], high.z += sums[6], high.w += sums[7];
  output[0] = low;
  output[1] = high;
}

#endif

}  // namespace buoy::ops

// What both kernels of the moments are told, and where things lie.
//
// The first kernel sums the queries by chunks of rows. The second multiplies every key with the sum of the
// chunks that see it as a whole, and where a mask cuts through a chunk with its queries one by one, on the
// tensor cores.
//
// A rotation turns dimension j of a head with dimension j + half. Lanes hold both, so that they can turn rows
// back: rows are kept as two halves of up to 64 columns.

#pragma once

#include <span>

#include "buoy/ops/attention/attention_mma_cuda.cuh"
#include "buoy/ops/attention/attention_plan_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/moments/qk_moments_cuda.h"

namespace buoy::ops {

inline constexpr int kMostHalf = 64, kMostDim = 2 * kMostHalf;

struct MomentArgs {
  const DeviceSequence* sequences;
  const Tile *row_chunks, *key_tiles;
  bool in_order;         // one sequence, no mask: tiles come in their order, and there is nothing to look up
  DeviceSequence first;  // of the sequences
  // [heads, chunk, kMomentWidth]: sum of queries, of their directions, both again turned back, sum of their
  // norms, their number. A sequence's chunks start at padded_start / kRowsPadded.
  float* sums;
  float* norms;  // [heads, padded_rows]: of the queries; below zero for those not taken
  int chunk_rows, heads, heads_per_key_head, head_dim, rows, padded_rows, columns;
  bool aligned;  // every half of every row to 16 bytes
  DeviceQkMoments wanted;
};

// What a block works on.
struct MomentPlace {
  DeviceSequence sequence;
  int first;  // row or key
};
__device__ inline MomentPlace moment_place(const MomentArgs& args, const Tile* tiles, int rows_of_tile) {
  if (args.in_order) return {args.first, static_cast<int>(blockIdx.x) * rows_of_tile};
  const Tile tile = tiles[blockIdx.x];
  return {args.sequences[tile.sequence], tile.first};
}

__device__ inline float* sums_of(const MomentArgs& args, const DeviceSequence& sequence, int first_row,
                                 int head) {
  const std::int64_t most_chunks = args.padded_rows / kRowsPadded;
  const std::int64_t chunk = sequence.padded_start / kRowsPadded + first_row / args.chunk_rows;
  return args.sums + (head * most_chunks + chunk) * kMomentWidth;
}

__device__ inline float* norms_of(const MomentArgs& args, const DeviceSequence& sequence, int head) {
  return args.norms + static_cast<std::int64_t>(head) * args.padded_rows + sequence.padded_start;
}

__device__ inline const Bf16* row_of(const std::uint16_t* states, std::int64_t stride, std::int64_t row,
                                     int head, int head_dim) {
  return reinterpret_cast<const Bf16*>(states) + row * stride + static_cast<std::int64_t>(head) * head_dim;
}

__device__ inline float sum_of_quad(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

// Eight angles and a turn by them.
struct EightAngles {
  float cosine[8], sine[8];

  __device__ void load(const DeviceRopeTable& table, std::int64_t position, int first_pair) {
    const std::int64_t at = position * table.pairs + first_pair;
#pragma unroll
    for (int e = 0; e < 8; e += 4) {
      const bool exist = first_pair + e < table.pairs;  // a number that is a multiple of four
      const float4 c =
          exist ? __ldg(reinterpret_cast<const float4*>(table.cosines + at + e)) : float4{1, 1, 1, 1};
      const float4 s =
          exist ? __ldg(reinterpret_cast<const float4*>(table.sines + at + e)) : float4{0, 0, 0, 0};
      cosine[e] = c.x, cosine[e + 1] = c.y, cosine[e + 2] = c.z, cosine[e + 3] = c.w;
      sine[e] = s.x, sine[e + 1] = s.y, sine[e + 2] = s.z, sine[e + 3] = s.w;
    }
  }
  __device__ void turn_back(float* low, float* high) const {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const float a = low[e], b = high[e];
      low[e] = fmaf(a, cosine[e], b * sine[e]);
      high[e] = fmaf(b, cosine[e], -a * sine[e]);
    }
  }
  // Adds eight other angles to these.
  __device__ void turn_on(const float* other_cosine, const float* other_sine) {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const float c = cosine[e], s = sine[e];
      cosine[e] = fmaf(c, other_cosine[e], -s * other_sine[e]);
      sine[e] = fmaf(s, other_cosine[e], c * other_sine[e]);
    }
  }
};

// Pieces 0 and 1 are the lower half of a row, 2 and 3 the upper one. Where rows are aligned all loads are on
// their way at once.
__device__ inline void load_halves(QuadRow& to, const Bf16* row, int half, bool aligned) {
  const int first = threadIdx.x % 4 * 8;
  if (aligned) {
#pragma unroll
    for (int i = 0; i < QuadRow::kPieces; ++i) {
      const int column = i % 2 * 32 + first;
      to.piece[i] = uint4{0, 0, 0, 0};
      if (column < half) to.piece[i] = __ldg(reinterpret_cast<const uint4*>(row + i / 2 * half + column));
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < QuadRow::kPieces; ++i)
    to.piece[i] = load_eight(row + i / 2 * half, i % 2 * 32 + first, half, false);
}

__device__ inline float dot_of_quad(const QuadRow& a, const QuadRow& b) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < QuadRow::kPieces; ++i) {
    float x[8], y[8];
    a.unpack(i, x);
    b.unpack(i, y);
#pragma unroll
    for (int e = 0; e < 8; ++e) sum = fmaf(x[e], y[e], sum);
  }
  return sum_of_quad(sum);
}

// Products of half a row with the sums of queries and of their directions.
__device__ inline void add_products(float& dot, float& cosine, const float* x, const float* of_queries) {
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    dot = fmaf(of_queries[e], x[e], dot);
    cosine = fmaf(of_queries[kMostDim + e], x[e], cosine);
  }
}

__device__ inline void write_columns(const DeviceQkColumns& to, std::int64_t at, float dot, float cosine,
                                     float norms, float self) {
  if (to.dot != nullptr) to.dot[at] = dot;
  if (to.cosine != nullptr) to.cosine[at] = cosine;
  if (to.norm_product != nullptr) to.norm_product[at] = norms;
  if (to.self_dot != nullptr) to.self_dot[at] = self;
}

MomentArgs moment_args(const PlanState& plan, const DeviceQkMoments& wanted);
// Of layers of one plan; either all of them or none want moments of what is turned back.
void launch_sum_queries(const PlanState& plan, std::span<const MomentArgs> layers, const Stream& stream);
// The lengths of values alone.
void launch_value_norms(const PlanState& plan, const MomentArgs& args, const Stream& stream);
void launch_key_columns(const PlanState& plan, const MomentArgs& args, const Stream& stream);

}  // namespace buoy::ops

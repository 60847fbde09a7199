// Moments of few rows that see every key, from what the statistics of few rows have in their hands: products
// of keys with queries as they are come from the scores, those turned back from sums of the queries.

#pragma once

#include "buoy/ops/attention/attention_few_columns_cuda.cuh"
#include "buoy/ops/moments/qk_moments_cuda.cuh"

namespace buoy::ops {

// A thread's two keys, eight apart: 16 of them for a warp.
struct OwnKeys {
  int key[2];
  bool exists[2];
  QuadRow row[2];
};

// Of the queries of all heads that share keys: sums of them and of their directions, turned back by the
// angles of their positions, sums of their norms, and 1 / their number.
template <int kHeads>
struct FewSums {
  float before[kHeads][2 * kMostDim];
  float norm_sum[kHeads], per_query[kHeads];
};

// Up to so many rows are summed up by each block for itself; of more rows a kernel in front has done so.
inline constexpr int kMostOwnRows = 8;
template <int kRows>
inline constexpr bool sums_of_own = kRows <= kMostOwnRows;

// From the queries in shared memory. All threads of a block; what is written is there behind the next
// __syncthreads().
template <int kRows, int kHeads, int kThreads, typename Storage>
__device__ void sum_own_queries(Storage& smem, const MomentArgs& m, const DeviceSequence& sequence,
                                int first_head, bool writes_norms) {
  constexpr int kLanes = 16, kColumnsAtOnce = kThreads / kLanes;
  const int lane = threadIdx.x % kLanes;
#pragma unroll
  for (int i = 0; i < kRows * kHeads / kColumnsAtOnce; ++i) {
    const int column = i * kColumnsAtOnce + threadIdx.x / kLanes, head = column / kRows, row = column % kRows;
    // In whatever order: they are squared.
    const uint4 eight = *reinterpret_cast<const uint4*>(&smem.queries[column][lane * 8]);
    const std::uint32_t words[4] = {eight.x, eight.y, eight.z, eight.w};
    float squares = 0;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const float2 two = unpack_bf16(words[w]);
      squares = fmaf(two.x, two.x, fmaf(two.y, two.y, squares));
    }
#pragma unroll
    for (int other = 1; other < kLanes; other *= 2) squares += __shfl_xor_sync(~0u, squares, other);
    const float norm = sqrtf(squares);
    if (lane > 0) continue;
    smem.norm[column] = norm;
    smem.inverse_norm[column] = norm > 0 ? 1.0f / norm : 0.0f;
    if (writes_norms && m.wanted.query_norm != nullptr && head < m.heads_per_key_head &&
        row < sequence.query_rows)
      m.wanted
          .query_norm[static_cast<std::int64_t>(first_head + head) * m.rows + sequence.query_start + row] =
          norm;
  }
  __syncthreads();
  for (int head = threadIdx.x; head < kHeads; head += kThreads) {
    float norms = 0;
    for (int row = 0; row < kRows; ++row) norms += smem.norm[head * kRows + row];
    smem.sums.norm_sum[head] = norms;
    smem.sums.per_query[head] = 1.0f / static_cast<float>(max(1, sequence.query_rows));
  }
  const DeviceRopeTable& rope = m.wanted.rope;
  if (rope.cosines == nullptr) return;
  // A thread has one pair of columns, of every second head.
  constexpr int kHeadsAtOnce = kThreads / kMostHalf, kOfThread = kHeads / kHeadsAtOnce;
  const int pair = threadIdx.x % kMostHalf, first = threadIdx.x / kMostHalf;
  float low[kOfThread] = {}, high[kOfThread] = {}, low_direction[kOfThread] = {},
        high_direction[kOfThread] = {};
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    if (row >= sequence.query_rows) break;
    const std::int64_t at = (static_cast<std::int64_t>(sequence.first_position) + row) * rope.pairs + pair;
    const float cosine = pair < rope.pairs ? __ldg(rope.cosines + at) : 1.0f,
                sine = pair < rope.pairs ? __ldg(rope.sines + at) : 0.0f;
#pragma unroll
    for (int n = 0; n < kOfThread; ++n) {
      const int column = (first + n * kHeadsAtOnce) * kRows + row;
      const float a = __bfloat162float(smem.queries[column][place_in_column(column, pair)]),
                  b = __bfloat162float(smem.queries[column][place_in_column(column, kMostHalf + pair)]),
                  inverse = smem.inverse_norm[column];
      const float turned_low = fmaf(a, cosine, b * sine), turned_high = fmaf(b, cosine, -a * sine);
      low[n] += turned_low, high[n] += turned_high;
      low_direction[n] = fmaf(turned_low, inverse, low_direction[n]);
      high_direction[n] = fmaf(turned_high, inverse, high_direction[n]);
    }
  }
#pragma unroll
  for (int n = 0; n < kOfThread; ++n) {
    float* to = smem.sums.before[first + n * kHeadsAtOnce] + pair;
    to[0] = low[n], to[kMostHalf] = high[n];
    to[kMostDim] = low_direction[n], to[kMostDim + kMostHalf] = high_direction[n];
  }
}

// What the kernel in front left of the queries of all heads. It is there behind the next wait_for_copies().
template <int kRows, int kHeads, int kThreads, typename Storage>
__device__ void load_sums(Storage& smem, const MomentArgs& m, const DeviceSequence& sequence,
                          int first_head) {
  constexpr int kPieces = 2 * kMostDim / 2;  // of two numbers: sums do not start at multiples of 16 bytes
  const int heads = m.heads_per_key_head;
  if (m.wanted.rope.cosines != nullptr) {
    for (int i = threadIdx.x; i < kHeads * kPieces; i += kThreads) {
      const int head = i / kPieces, piece = i % kPieces;
      const float* from = sums_of(m, sequence, 0, first_head + min(head, heads - 1)) + 2 * kMostDim;
      copy_two_or_zeros(shared_address(&smem.sums.before[head][2 * piece]), from + 2 * piece, head < heads);
    }
    commit_copies();
  }
  for (int column = threadIdx.x; column < kRows * kHeads; column += kThreads) {
    const int head = column / kRows, row = column % kRows;
    const float norm =
        row < sequence.query_rows && head < heads ? norms_of(m, sequence, first_head + head)[row] : 0.0f;
    smem.inverse_norm[column] = norm > 0 ? 1.0f / norm : 0.0f;
  }
  for (int head = threadIdx.x; head < kHeads; head += kThreads) {
    const float* sums = sums_of(m, sequence, 0, first_head + min(head, heads - 1)) + 4 * kMostDim;
    smem.sums.norm_sum[head] = sums[0];
    smem.sums.per_query[head] = sums[1] > 0 ? 1.0f / sums[1] : 0.0f;
  }
}

__device__ inline float value_norm_of(const MomentArgs& m, const DeviceSequence& sequence, const OwnKeys& own,
                                      int r, int key_head) {
  const DeviceAttentionInputs& in = m.wanted.inputs;
  QuadRow value = {};
  if (own.exists[r])
    load_halves(value,
                row_of(in.values, in.value_stride, sequence.key_start + own.key[r], key_head, m.head_dim),
                m.head_dim / 2, m.aligned);
  return sqrtf(dot_of_quad(value, value));
}

// The products of both keys, turned back, with the sums of each head: [own head][key], on the lane that owns
// the head. Of a single row the sum of directions is the query by its length.
template <typename Columns, int kHeads>
__device__ void multiply_turned_back(float (&dot)[Columns::kOwn][2], float (&cosine)[Columns::kOwn][2],
                                     const float (&before)[kHeads][2 * kMostDim], const DeviceRopeTable& rope,
                                     const OwnKeys& own) {
  constexpr int kOwn = Columns::kOwn;
  const int part = threadIdx.x % 4 * 8;
  constexpr bool kCosines = Columns::kMostRows > 1;
  float dots[kOwn][2][4] = {}, cosines[kOwn][2][4] = {};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float low[2][8], high[2][8];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      own.row[r].unpack(i, low[r]);
      own.row[r].unpack(i + 2, high[r]);
      EightAngles angles;
      angles.load(rope, own.exists[r] ? own.key[r] : 0, 32 * i + part);
      angles.turn_back(low[r], high[r]);
    }
#pragma unroll
    for (int o = 0; o < kOwn; ++o) {
#pragma unroll
      for (int quad = 0; quad < 4; ++quad) {
        const float* sums = before[Columns::head_of(quad, o)] + 32 * i + part;
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          const float first = sums[e], second = sums[e + kMostHalf], one = sums[e + kMostDim],
                      other = sums[e + kMostDim + kMostHalf];
#pragma unroll
          for (int r = 0; r < 2; ++r) {
            dots[o][r][quad] = fmaf(second, high[r][e], fmaf(first, low[r][e], dots[o][r][quad]));
            if (kCosines)
              cosines[o][r][quad] = fmaf(other, high[r][e], fmaf(one, low[r][e], cosines[o][r][quad]));
          }
        }
      }
    }
  }
#pragma unroll
  for (int o = 0; o < kOwn; ++o) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      dot[o][r] = sum_to_owner(dots[o][r]);
      if (kCosines) cosine[o][r] = sum_to_owner(cosines[o][r]);
    }
  }
}

// Of a warp's 16 keys. `sums`: over the rows of each head, of scores, of scores by 1 / |q| and of the
// products with a key's own query; scores are products of queries and keys, not scaled.
template <typename Columns, typename Sums, int kHeads>
__device__ void measure_keys(const Sums& sums, const FewSums<kHeads>& of_queries, const MomentArgs& m,
                             const DeviceSequence& sequence, const OwnKeys& own, int key_head) {
  constexpr int kOwn = Columns::kOwn;
  const DeviceQkMoments& wanted = m.wanted;
  const int quad = threadIdx.x % 4;
  float norm[2], dot_before[kOwn][2], cosine_before[kOwn][2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    norm[r] = sqrtf(dot_of_quad(own.row[r], own.row[r]));
    const std::int64_t at =
        static_cast<std::int64_t>(key_head) * m.columns + sequence.column_start + own.key[r];
    const bool writes = own.exists[r] && quad == 0;
    if (writes && wanted.key_norm != nullptr) wanted.key_norm[at] = norm[r];
    if (wanted.value_norm == nullptr) continue;
    const float value_norm = value_norm_of(m, sequence, own, r, key_head);
    if (writes) wanted.value_norm[at] = value_norm;
  }
  const bool back = wanted.rope.cosines != nullptr;
  if (back) multiply_turned_back<Columns>(dot_before, cosine_before, of_queries.before, wanted.rope, own);
#pragma unroll
  for (int o = 0; o < kOwn; ++o) {
    const int number = Columns::head_of(quad, o);
    if (number >= m.heads_per_key_head) continue;
    const float per_query = of_queries.per_query[number], norm_sum = of_queries.norm_sum[number];
    const std::int64_t first =
        static_cast<std::int64_t>(key_head * m.heads_per_key_head + number) * m.columns +
        sequence.column_start;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (!own.exists[r]) continue;
      const float inverse = norm[r] > 0 ? per_query / norm[r] : 0.0f, norms = norm_sum * norm[r] * per_query;
      const std::int64_t at = first + own.key[r];
      if (Columns::kMostRows == 1) cosine_before[o][r] = norm_sum > 0 ? dot_before[o][r] / norm_sum : 0.0f;
      write_columns(wanted.after, at, sums.dot[o][r] * per_query, sums.cosine[o][r] * inverse, norms,
                    sums.self[o][r]);
      if (back)
        write_columns(wanted.before, at, dot_before[o][r] * per_query, cosine_before[o][r] * inverse, norms,
                      sums.self[o][r]);
    }
  }
}

}  // namespace buoy::ops

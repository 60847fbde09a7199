// The moments inside the two passes of attention on Hopper, whose blocks have queries or keys in shared
// memory anyway and three warps that have nothing to do: sums of queries in the first pass, their products
// with keys in the second. For whole sequences without a mask, where every key is seen by all queries.

#pragma once

#include "buoy/ops/device/bulk_copy_cuda.cuh"
#include "buoy/ops/moments/qk_moments_cuda.cuh"

namespace buoy::ops {

// Null sums: not wanted.
struct RidingMoments {
  const float* sums;  // as MomentArgs::sums
  int chunk_rows, padded_rows;
  DeviceQkColumns after, before;
  DeviceRopeTable rope;  // null angles: no `before`
  float* key_norm;       // [kv_heads, columns]; null: not wanted
  int heads_per_key_head;
};

struct RidingSharedStorage {
  float total[kMomentWidth + 2];
  float step_cosine[kMostHalf], step_sine[kMostHalf];  // of eight positions
};

struct SumsSharedStorage {
  float inverse[kRowsPadded];  // of the queries' norms
  float norms[2];
};

struct RidingSums {
  float* sums;  // as MomentArgs::sums, chunks of kRowsPadded rows; null: not wanted
  int padded_rows;
  DeviceRopeTable rope;
  float* query_norm;  // [heads, rows]; null: not wanted
  int rows;
};

constexpr int kSumsThreads = 64;

#ifdef BUOY_HAS_WGMMA

// The query side: two warps, a pair of dimensions to a lane.
//
// Queries are turned back without looking up their angles: with T a turn back by one position, the sum is,
// from the last row on, sum = row + T sum, and in the end one turn for the first row.

__device__ inline float squares_of_pair(std::uint32_t pair, float sum) {
  const float low = __uint_as_float(pair << 16), high = __uint_as_float(pair & 0xFFFF0000u);
  return fmaf(low, low, fmaf(high, high, sum));
}

// Of `count` rows in swizzled panels; to `out` as well, where there is one.
template <int kDim>
__device__ void find_norms(SumsSharedStorage& smem, const Bf16* queries, int count, float* out, int thread) {
  float norms = 0;
  for (int row = thread; row < kRowsPadded; row += kSumsThreads) {
    float squares = 0;
#pragma unroll 4
    for (int c = 0; c < kDim / 8; ++c) {
      const uint4 piece = *reinterpret_cast<const uint4*>(queries + c / 8 * (kRowsPadded * 64) + row * 64 +
                                                          ((c % 8) ^ (row & 7)) * 8);
      squares = squares_of_pair(
          piece.x, squares_of_pair(piece.y, squares_of_pair(piece.z, squares_of_pair(piece.w, squares))));
    }
    const float norm = row < count ? sqrtf(squares) : 0.0f;
    smem.inverse[row] = norm > 0 ? 1.0f / norm : 0.0f;
    if (out != nullptr && row < count) out[row] = norm;
    norms += norm;
  }
#pragma unroll
  for (int next = 1; next < 32; next *= 2) norms += __shfl_xor_sync(~0u, norms, next);
  if (thread % 32 == 0) smem.norms[thread / 32] = norms;
}

// Rows first_row.. of a head, up to kRowsPadded of them.
template <int kDim>
__device__ void sum_rows(SumsSharedStorage& smem, const Bf16* queries, const RidingSums& moments,
                         const DeviceSequence& sequence, int first_row, int head, int barrier, int thread) {
  constexpr int kHalf = kDim / 2;
  const int count = min(kRowsPadded, sequence.query_rows - first_row);
  const std::int64_t chunk = static_cast<std::int64_t>(head) * (moments.padded_rows / kRowsPadded) +
                             (sequence.padded_start + first_row) / kRowsPadded;
  float* to = moments.sums + chunk * kMomentWidth;
  float* const norms = moments.query_norm == nullptr
                           ? nullptr
                           : moments.query_norm + static_cast<std::int64_t>(head) * moments.rows +
                                 sequence.query_start + first_row;
  find_norms<kDim>(smem, queries, count, norms, thread);
  named_barrier_sync(barrier, kSumsThreads);
  if (thread == 0) {
    to[4 * kMostDim] = smem.norms[0] + smem.norms[1];
    to[4 * kMostDim + 1] = static_cast<float>(count);
  }
  if (thread >= kHalf) return;
  const bool back = moments.rope.cosines != nullptr;
  float cosine = 1, sine = 0;
  if (back && count > 1) {
    cosine = moments.rope.cosines[kHalf + thread];
    sine = moments.rope.sines[kHalf + thread];
  }
  float sum[2] = {}, direction[2] = {}, sum_back[2] = {}, direction_back[2] = {};
  const auto turn = [&](float(&x)[2], float low, float high) {
    const float a = x[0], b = x[1];
    x[0] = fmaf(a, cosine, fmaf(b, sine, low));
    x[1] = fmaf(b, cosine, fmaf(-a, sine, high));
  };
  const auto at = [&](int row, int c) {
    const auto* line =
        reinterpret_cast<const std::uint16_t*>(queries) + c / 64 * (kRowsPadded * 64) + row * 64;
    return __uint_as_float(static_cast<std::uint32_t>(line[((c % 64 / 8) ^ (row & 7)) * 8 + c % 8]) << 16);
  };
#pragma unroll 4
  for (int row = count - 1; row >= 0; --row) {
    const float low = at(row, thread), high = at(row, kHalf + thread), inverse = smem.inverse[row];
    sum[0] += low, sum[1] += high;
    direction[0] = fmaf(low, inverse, direction[0]), direction[1] = fmaf(high, inverse, direction[1]);
    turn(sum_back, low, high);
    turn(direction_back, low * inverse, high * inverse);
  }
  if (back) {
    const std::int64_t angle = (sequence.first_position + first_row) * moments.rope.pairs + thread;
    cosine = moments.rope.cosines[angle];
    sine = moments.rope.sines[angle];
    turn(sum_back, 0, 0);
    turn(direction_back, 0, 0);
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float* here = to + h * kMostHalf + thread;
    here[0] = sum[h];
    here[kMostDim] = direction[h];
    here[2 * kMostDim] = sum_back[h];
    here[3 * kMostDim] = direction_back[h];
  }
}

// The key side: three idle warps add up the sums of queries, and in the end every warp that has 16 keys
// multiplies them with these.

constexpr int kAddingThreads = 96;

__device__ inline void add_all_chunks(RidingSharedStorage& smem, const RidingMoments& moments,
                                      const DeviceSequence& sequence, int head, int thread) {
  const std::int64_t most_chunks = moments.padded_rows / kRowsPadded;
  const float* first =
      moments.sums + (head * most_chunks + sequence.padded_start / kRowsPadded) * kMomentWidth;
  const int chunks = (sequence.query_rows + moments.chunk_rows - 1) / moments.chunk_rows;
  for (int i = thread; i < kMomentWidth; i += kAddingThreads) {
    float total = 0;
#pragma unroll 8
    for (int n = 0; n < chunks; ++n) total += first[n * kMomentWidth + i];
    smem.total[i] = total;
  }
  const int half = static_cast<int>(moments.rope.pairs);
  if (moments.rope.cosines != nullptr && thread < half) {
    const bool exists = sequence.key_rows > 8;  // else no quad has a second key
    smem.step_cosine[thread] = exists ? moments.rope.cosines[8 * half + thread] : 1.0f;
    smem.step_sine[thread] = exists ? moments.rope.sines[8 * half + thread] : 0.0f;
  }
}

struct FourAngles {
  float4 cosine, sine;

  __device__ void load(const DeviceRopeTable& table, std::int64_t position, int pair) {
    const std::int64_t at = position * table.pairs + pair;
    cosine = __ldg(reinterpret_cast<const float4*>(table.cosines + at));
    sine = __ldg(reinterpret_cast<const float4*>(table.sines + at));
  }
  __device__ static void turn(float& low, float& high, float cosine, float sine) {
    const float a = low, b = high;
    low = fmaf(a, cosine, b * sine);
    high = fmaf(b, cosine, -a * sine);
  }
  __device__ void turn_back(float (&low)[4], float (&high)[4]) const {
    turn(low[0], high[0], cosine.x, sine.x);
    turn(low[1], high[1], cosine.y, sine.y);
    turn(low[2], high[2], cosine.z, sine.z);
    turn(low[3], high[3], cosine.w, sine.w);
  }
  // Adds other angles to these: the same as turning cosine and sine by them.
  __device__ void turn_on(const float* other_cosine, const float* other_sine) {
    const float4 c = *reinterpret_cast<const float4*>(other_cosine),
                 s = *reinterpret_cast<const float4*>(other_sine);
    turn(cosine.x, sine.x, c.x, -s.x);
    turn(cosine.y, sine.y, c.y, -s.y);
    turn(cosine.z, sine.z, c.z, -s.z);
    turn(cosine.w, sine.w, c.w, -s.w);
  }
};

// Four dimensions of the lower and four of the upper half of a key, from swizzled panels.
template <int kDim>
__device__ inline void load_fours(const Bf16* panels, int row, int column, float (&low)[4],
                                  float (&high)[4]) {
  const auto load = [&](int c, float(&out)[4]) {
    const Bf16* line = panels + c / 64 * (kRowsPadded * 64) + row * 64;
    const uint2 piece = *reinterpret_cast<const uint2*>(line + ((c % 64 / 8) ^ (row & 7)) * 8 + c % 8);
    out[0] = __uint_as_float(piece.x << 16), out[1] = __uint_as_float(piece.x & 0xFFFF0000u);
    out[2] = __uint_as_float(piece.y << 16), out[3] = __uint_as_float(piece.y & 0xFFFF0000u);
  };
  load(column, low);
  load(kDim / 2 + column, high);
}

// What is summed over the dimensions of a key.
struct KeyProducts {
  float squares = 0, dot = 0, cosine = 0, dot_before = 0, cosine_before = 0;

  // With the sums of queries and of their directions: four numbers of both halves.
  __device__ static void add(float& dot, float& cosine, const float* of_queries, const float (&low)[4],
                             const float (&high)[4]) {
    const auto four = [&](const float* a, const float(&x)[4], float sum) {
      const float4 f = *reinterpret_cast<const float4*>(a);
      return fmaf(f.w, x[3], fmaf(f.z, x[2], fmaf(f.y, x[1], fmaf(f.x, x[0], sum))));
    };
    dot = four(of_queries, low, four(of_queries + kMostHalf, high, dot));
    cosine = four(of_queries + kMostDim, low, four(of_queries + kMostDim + kMostHalf, high, cosine));
  }
};

// A lane of the quad to each array.
__device__ inline void write_columns(const DeviceQkColumns& to, std::int64_t at, float dot, float cosine,
                                     float norms) {
  const int part = threadIdx.x % 4;
  float* const here = part == 0 ? to.dot : part == 1 ? to.cosine : part == 2 ? to.norm_product : nullptr;
  if (here != nullptr) here[at] = part == 0 ? dot : part == 1 ? cosine : norms;
}

// A warp: 16 keys from first_key on, which lie in rows first_row.. of swizzled panels; a quad has two of
// them, eight apart. `full` is the barrier behind add_all_chunks. Loops stay loops: unrolled, code that runs
// once per block took 2 us more.
template <int kDim>
__device__ void write_key_moments(const RidingSharedStorage& smem, std::uint64_t* full, const Bf16* panels,
                                  const RidingMoments& moments, const DeviceSequence& sequence, int first_key,
                                  int first_row, int head, int columns) {
  const bool back = moments.rope.cosines != nullptr;
  const int quad = threadIdx.x % 32 / 4, part = threadIdx.x % 4 * 4, key = first_key + quad,
            position = min(key, sequence.key_rows - 1);
  FourAngles next;
  if (back) next.load(moments.rope, position, part);
  mbarrier_wait(full, 0);
  KeyProducts sums[2];
#pragma unroll 1
  for (int c = part; c < kDim / 2; c += 16) {
    FourAngles angles = next;
    if (back && c + 16 < kDim / 2) next.load(moments.rope, position, c + 16);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      KeyProducts& sum = sums[r];
      float low[4], high[4];
      load_fours<kDim>(panels, first_row + quad + 8 * r, c, low, high);
#pragma unroll
      for (int e = 0; e < 4; ++e) sum.squares = fmaf(low[e], low[e], fmaf(high[e], high[e], sum.squares));
      KeyProducts::add(sum.dot, sum.cosine, smem.total + c, low, high);
      if (!back) continue;
      if (r == 1) angles.turn_on(smem.step_cosine + c, smem.step_sine + c);
      angles.turn_back(low, high);
      KeyProducts::add(sum.dot_before, sum.cosine_before, smem.total + 2 * kMostDim + c, low, high);
    }
  }
  const float taken = smem.total[4 * kMostDim + 1], per_query = taken > 0 ? 1.0f / taken : 0.0f;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const KeyProducts& sum = sums[r];
    const float norm = sqrtf(sum_of_quad(sum.squares)), inverse = norm > 0 ? per_query / norm : 0.0f;
    const float norms = smem.total[4 * kMostDim] * norm * per_query;
    const float dot = sum_of_quad(sum.dot) * per_query, cosine = sum_of_quad(sum.cosine) * inverse;
    const float dot_before = sum_of_quad(sum.dot_before) * per_query,
                cosine_before = sum_of_quad(sum.cosine_before) * inverse;
    if (key + 8 * r >= sequence.key_rows) continue;
    const std::int64_t at = static_cast<std::int64_t>(head) * columns + sequence.column_start + key + 8 * r;
    write_columns(moments.after, at, dot, cosine, norms);
    if (moments.key_norm != nullptr && head % moments.heads_per_key_head == 0 && threadIdx.x % 4 == 3)
      moments.key_norm[static_cast<std::int64_t>(head / moments.heads_per_key_head) * columns +
                       sequence.column_start + key + 8 * r] = norm;
    if (back) write_columns(moments.before, at, dot_before, cosine_before, norms);
  }
}

#endif

}  // namespace buoy::ops

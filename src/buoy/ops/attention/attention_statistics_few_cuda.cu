// The second pass where rows are few and see every key, as where blocks or single tokens are decoded with a
// cache. A block takes 64 keys of one head of keys and all heads that share them: scores, what is received,
// rows that are looked at closely and the moments, of keys that are read once. It is small, so that those of
// many layers find room beside each other: alone it mostly waits.

#include "buoy/ops/attention/attention_general_cuda.cuh"
#include "buoy/ops/attention/attention_statistics_few_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 128, kKeysOfBlock = 64, kKeysOfWarp = 16, kKeyStep = 8,
              kSumsWidth = kMomentWidth + 2;

// What is known of the rows; those beyond the last weigh nothing.
template <int kHeads>
struct FewRowsShared {
  float shift[kHeads][kFewRows];
  std::int32_t close[kFewRows];
  std::uint8_t group[kFewRows];
};

// A thread's two keys, eight apart.
struct OwnKeys {
  int key[2];
  bool exists[2];
  QuadRow row[2];
};

template <int kHeads>
__device__ void load_rows(FewRowsShared<kHeads>& smem, const StatisticsArgs& a,
                          const DeviceSequence& sequence, int first_head) {
  for (int i = threadIdx.x; i < kHeads * kFewRows; i += kThreads) {
    const int head = i / kFewRows, row = i % kFewRows;
    const bool exists = row < sequence.query_rows && head < a.heads_per_key_head;
    const std::int64_t padded = sequence.padded_start + row;
    smem.shift[head][row] =
        exists ? a.row_shift[static_cast<std::int64_t>(first_head + head) * a.padded_rows + padded]
               : INFINITY;
    if (head > 0) continue;
    smem.group[row] = exists ? a.row_groups[padded] : 255;
    smem.close[row] = exists && a.row_weights != nullptr ? a.close_of_row[padded] : -1;
  }
}

// The weights of one head: 64 keys by 16 rows of queries at a time.
struct QueriesOfWarp {
  QuadRow octet[2];

  __device__ void load(const StatisticsArgs& a, const DeviceSequence& sequence, int head, int first) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const int row = min(first + 8 * n + static_cast<int>(threadIdx.x) % 32 / 4, sequence.query_rows - 1);
      load_halves(octet[n],
                  a.queries + (static_cast<std::int64_t>(sequence.query_start) + row) * a.query_stride +
                      static_cast<std::int64_t>(head) * a.head_dim,
                  a.head_dim / 2, a.aligned);
    }
  }
};

template <int kHeads>
__device__ void weigh_rows(float (&received)[8], const FewRowsShared<kHeads>& smem, const StatisticsArgs& a,
                           const DeviceSequence& sequence, const OwnKeys& own, const QueriesOfWarp& queries,
                           const float (&bias)[2], int number, int head, int first) {
  const int lane = threadIdx.x % 32;
  float s[8] = {};
#pragma unroll
  for (int n = 0; n < 2; ++n) multiply_add_rows(s + 4 * n, own.row[0], own.row[1], queries.octet[n]);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = first + i / 4 * 8 + lane % 4 * 2 + i % 2, r = i / 2 % 2;
    s[i] = exp2_approx(fmaf(s[i], a.scale, bias[r] - smem.shift[number][row]));
    const int close = smem.close[row];
    if (close >= 0 && own.exists[r])
      a.row_weights[(static_cast<std::int64_t>(close) * a.heads + head) * a.row_weight_stride + own.key[r]] =
          s[i];
    if (a.first_share != nullptr && own.key[r] == 0 && row < sequence.query_rows)
      a.first_share[static_cast<std::int64_t>(head) * a.rows + sequence.query_start + row] = s[i];
  }
  const std::uint32_t weights[4] = {pack_bf16(s[0], s[1]), pack_bf16(s[2], s[3]), pack_bf16(s[4], s[5]),
                                    pack_bf16(s[6], s[7])};
  const std::uint8_t* groups = smem.group + first + lane % 4 * 2;
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    const int group = 8 * n + lane / 4;
    multiply_add(received + 4 * n, weights, one_hot_pair(groups, group), one_hot_pair(groups + 8, group));
  }
}

// Of all heads; the next queries are on their way while these are multiplied.
template <int kHeads>
__device__ void weigh_keys(const FewRowsShared<kHeads>& smem, const StatisticsArgs& a,
                           const DeviceSequence& sequence, const OwnKeys& own, int first_head) {
  const int lane = threadIdx.x % 32, heads = a.heads_per_key_head;
  QueriesOfWarp next;
  next.load(a, sequence, first_head, 0);
  for (int number = 0; number < heads; ++number) {
    const int head = first_head + number;
    float bias[2] = {0, 0}, received[8] = {};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (a.key_bias != nullptr && own.exists[r])
        bias[r] = a.key_bias[head * a.key_bias_stride + sequence.column_start + own.key[r]] * kLog2E;
    }
    for (int first = 0; first < sequence.query_rows; first += 16) {
      const QueriesOfWarp queries = next;
      const bool last = first + 16 >= sequence.query_rows;
      if (!last || number + 1 < heads) next.load(a, sequence, last ? head + 1 : head, last ? 0 : first + 16);
      weigh_rows(received, smem, a, sequence, own, queries, bias, number, head, first);
    }
    if (a.received == nullptr) continue;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int group = i / 4 * 8 + lane % 4 * 2 + i % 2, r = i / 2 % 2;
      if (group < a.groups && own.exists[r])
        a.received[(static_cast<std::int64_t>(group) * a.heads + head) * a.columns + sequence.column_start +
                   own.key[r]] = received[i];
    }
  }
}

// What the kernel in front left of the queries of all heads. All of it is asked for before any is stored.
template <int kHeads>
__device__ void load_sums(float (*of_queries)[kSumsWidth], const MomentArgs& m,
                          const DeviceSequence& sequence, int first_head) {
  constexpr int kColumns = (kMomentWidth + kThreads - 1) / kThreads;
  float found[kHeads][kColumns];
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    const float* sums = sums_of(m, sequence, 0, first_head + min(h, m.heads_per_key_head - 1));
#pragma unroll
    for (int c = 0; c < kColumns; ++c)
      found[h][c] = sums[min(static_cast<int>(threadIdx.x) + c * kThreads, kMomentWidth - 1)];
  }
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int i = threadIdx.x + c * kThreads;
      if (i < kMomentWidth) of_queries[h][i] = found[h][c];
    }
  }
}

// The product of a key with the query of its own position; 0 where that is none of the rows.
__device__ float self_product(const MomentArgs& m, const DeviceSequence& sequence, const OwnKeys& own, int r,
                              int head) {
  const DeviceAttentionInputs& in = m.wanted.inputs;
  const int row = own.key[r] - sequence.first_position;
  const bool is_row = own.exists[r] && row >= 0 && row < sequence.query_rows;
  if (__ballot_sync(~0u, is_row) == 0) return 0;
  QuadRow query = {};
  if (is_row)
    load_halves(query, row_of(in.queries, in.query_stride, sequence.query_start + row, head, m.head_dim),
                m.head_dim / 2, m.aligned);
  return dot_of_quad(query, own.row[r]);
}

__device__ float value_norm_of(const MomentArgs& m, const DeviceSequence& sequence, const OwnKeys& own, int r,
                               int key_head) {
  const DeviceAttentionInputs& in = m.wanted.inputs;
  QuadRow value = {};
  if (own.exists[r])
    load_halves(value,
                row_of(in.values, in.value_stride, sequence.key_start + own.key[r], key_head, m.head_dim),
                m.head_dim / 2, m.aligned);
  return sqrtf(dot_of_quad(value, value));
}

// Of one of the two keys and all heads: the sums of queries are there, since every row sees every key.
template <int kHeads, bool kBack>
__device__ void measure_key(const float (*of_queries)[kSumsWidth], const MomentArgs& m,
                            const DeviceSequence& sequence, const OwnKeys& own, int r, int key_head) {
  const DeviceQkMoments& wanted = m.wanted;
  const int lane = threadIdx.x % 32, part = lane % 4 * 8, heads = m.heads_per_key_head;
  struct Sums {
    float dot = 0, cosine = 0, dot_before = 0, cosine_before = 0;
  } sums[kHeads];
  float squares = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float low[8], high[8];
    own.row[r].unpack(i, low);
    own.row[r].unpack(i + 2, high);
#pragma unroll
    for (int e = 0; e < 8; ++e) squares = fmaf(low[e], low[e], fmaf(high[e], high[e], squares));
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      if (h >= heads) break;
      const float* after = of_queries[h] + 32 * i + part;
      add_products(sums[h].dot, sums[h].cosine, low, after);
      add_products(sums[h].dot, sums[h].cosine, high, after + kMostHalf);
    }
    if (!kBack) continue;
    EightAngles angles;
    angles.load(wanted.rope, own.exists[r] ? own.key[r] : 0, 32 * i + part);
    angles.turn_back(low, high);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      if (h >= heads) break;
      const float* before = of_queries[h] + 2 * kMostDim + 32 * i + part;
      add_products(sums[h].dot_before, sums[h].cosine_before, low, before);
      add_products(sums[h].dot_before, sums[h].cosine_before, high, before + kMostHalf);
    }
  }
  const float norm = sqrtf(sum_of_quad(squares)), inverse = norm > 0 ? 1.0f / norm : 0.0f;
  const bool writes = own.exists[r] && lane % 4 == 0;
  const std::int64_t column = sequence.column_start + own.key[r];
  if (writes && wanted.key_norm != nullptr)
    wanted.key_norm[static_cast<std::int64_t>(key_head) * m.columns + column] = norm;
  if (wanted.value_norm != nullptr) {
    const float value_norm = value_norm_of(m, sequence, own, r, key_head);
    if (writes) wanted.value_norm[static_cast<std::int64_t>(key_head) * m.columns + column] = value_norm;
  }
  const bool selves = wanted.after.self_dot != nullptr || wanted.before.self_dot != nullptr;
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    if (h >= heads) break;
    const int head = key_head * heads + h;
    const float taken = of_queries[h][4 * kMostDim + 1], per_query = taken > 0 ? 1.0f / taken : 0.0f,
                norms = of_queries[h][4 * kMostDim] * norm * per_query;
    const float self = selves ? self_product(m, sequence, own, r, head) : 0;
    const float dot = sum_of_quad(sums[h].dot) * per_query,
                cosine = sum_of_quad(sums[h].cosine) * inverse * per_query;
    const float dot_before = kBack ? sum_of_quad(sums[h].dot_before) * per_query : 0,
                cosine_before = kBack ? sum_of_quad(sums[h].cosine_before) * inverse * per_query : 0;
    if (!writes) continue;
    const std::int64_t at = static_cast<std::int64_t>(head) * m.columns + column;
    write_columns(wanted.after, at, dot, cosine, norms, self);
    if (kBack) write_columns(wanted.before, at, dot_before, cosine_before, norms, self);
  }
}

template <int kHeads, bool kMoments, bool kBack>
__global__ void __launch_bounds__(kThreads)
    statistics_few(const __grid_constant__ StatisticsArgs a, const __grid_constant__ MomentArgs m) {
  __shared__ FewRowsShared<kHeads> smem;
  __shared__ __align__(16) float of_queries[kMoments ? kHeads : 1][kSumsWidth];
  const Tile tile = a.tiles[blockIdx.x];
  const DeviceSequence sequence = a.sequences[tile.sequence];
  const int key_head = blockIdx.y, first_head = key_head * a.heads_per_key_head, lane = threadIdx.x % 32;
  OwnKeys own;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    own.key[r] = tile.first + threadIdx.x / 32 * kKeysOfWarp + lane / 4 + kKeyStep * r;
    own.exists[r] = own.key[r] < sequence.key_rows;
    own.row[r] = {};
    if (own.exists[r])
      load_halves(own.row[r],
                  a.keys + (static_cast<std::int64_t>(sequence.key_start) + own.key[r]) * a.key_stride +
                      static_cast<std::int64_t>(key_head) * a.head_dim,
                  a.head_dim / 2, a.aligned);
  }
  load_rows(smem, a, sequence, first_head);
  launch_dependents();
  if constexpr (kMoments) {
    wait_for_prior_grid();  // which sums up the queries
    load_sums<kHeads>(of_queries, m, sequence, first_head);
  }
  __syncthreads();
  if (a.received != nullptr || a.row_weights != nullptr || a.first_share != nullptr)
    weigh_keys(smem, a, sequence, own, first_head);
  if constexpr (kMoments) {
#pragma unroll
    for (int r = 0; r < 2; ++r) measure_key<kHeads, kBack>(of_queries, m, sequence, own, r, key_head);
  }
}

template <int kHeads>
void launch(const StatisticsArgs& args, const MomentArgs* moments, const FewStatisticsShape& shape,
            const Stream& stream) {
  const bool back = moments != nullptr && moments->wanted.rope.cosines != nullptr;
  launch_kernel({.grid = dim3(static_cast<unsigned>(shape.key_tiles), static_cast<unsigned>(shape.key_heads)),
                 .block = kThreads,
                 .early = shape.early && moments != nullptr},
                stream, "statistics_few",
                moments == nullptr ? statistics_few<kHeads, false, false>
                : back             ? statistics_few<kHeads, true, true>
                                   : statistics_few<kHeads, true, false>,
                args, moments != nullptr ? *moments : MomentArgs{});
}

}  // namespace

bool few_can_measure(const PlanState& s, const DeviceQkMoments* moments) {
  const bool few = s.longest_rows <= kFewRows && s.shape.heads / s.shape.kv_heads <= kMostHeadsTogether;
  return few && s.all_seen && (moments == nullptr || moments->use_row == nullptr);
}

void launch_statistics_few(const StatisticsArgs& args, const MomentArgs* moments,
                           const FewStatisticsShape& shape, const Stream& stream) {
  static_assert(kKeysOfBlock == kThreads / 32 * kKeysOfWarp && kMostHeadsTogether == 8);
  if (shape.key_tiles == 0) return;
  const int heads = args.heads_per_key_head;
  if (heads == 1) return launch<1>(args, moments, shape, stream);
  if (heads == 2) return launch<2>(args, moments, shape, stream);
  if (heads <= 4) return launch<4>(args, moments, shape, stream);
  launch<8>(args, moments, shape, stream);
}

}  // namespace buoy::ops

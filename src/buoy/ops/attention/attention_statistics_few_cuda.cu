// The second pass where rows are few and see every key, as where blocks or single tokens are decoded with a
// cache. One launch measures several layers, since one alone mostly waits. A block takes 64 keys of one head
// of keys and all heads that share them: scores, what is received, rows that are looked at closely and the
// moments, of keys that are read once. The rows of the heads stand side by side as the columns of a product.

#include "buoy/ops/attention/attention_few_columns_cuda.cuh"
#include "buoy/ops/attention/attention_general_cuda.cuh"
#include "buoy/ops/attention/attention_statistics_few_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/moments/qk_moments_few_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 128, kKeysOfWarp = 16, kKeysOfBlock = kThreads / 32 * kKeysOfWarp;
static_assert(kKeysOfBlock == 64);

// The queries of all heads, and what is known of them. Columns without a row hold zeros and weigh nothing.
template <int kRows, int kHeads>
struct FewStorage {
  using Columns = FewColumns<kRows, kHeads>;
  static constexpr int kStride = kMostDim + 32;  // keeps banks apart
  static constexpr int kCodes = kRows < 16 ? Columns::kChunk : kRows;
  Bf16 queries[Columns::kColumns][kStride];
  float before[kHeads][2 * kMostDim];  // sums of queries and of their directions, turned back
  float norm_sum[kHeads], per_query[kHeads];
  float shift[Columns::kColumns], inverse_norm[Columns::kColumns];
  std::int32_t close[kRows];
  // Of the columns of a chunk: which of its outputs, head * groups + group, a row counts towards.
  std::uint8_t output[kCodes];
};

// The layer, its sequence and the head of keys that a block works at.
struct FewPlace {
  const StatisticsArgs& a;
  const MomentArgs& m;
  DeviceSequence sequence;
  int key_head, first_head, heads;
  bool moments;
  bool has_selves;  // whether some key of the block is that of a row
};

template <int kRows, int kHeads>
__device__ void load_queries(FewStorage<kRows, kHeads>& smem, const FewPlace& at) {
  constexpr int kPieces = kMostDim / 8;
  const StatisticsArgs& a = at.a;
  const int half = a.head_dim / 2;
#pragma unroll 8
  for (int i = threadIdx.x; i < kRows * kHeads * kPieces; i += kThreads) {
    const int column = i / kPieces, piece = i % kPieces, head = column / kRows, row = column % kRows;
    uint4 eight{0, 0, 0, 0};
    if (row < at.sequence.query_rows && head < at.heads) {
      const Bf16* query = a.queries +
                          (static_cast<std::int64_t>(at.sequence.query_start) + row) * a.query_stride +
                          static_cast<std::int64_t>(at.first_head + head) * a.head_dim;
      eight = load_eight(query + piece / 8 * half, piece % 8 * 8, half, a.aligned);
    }
    *reinterpret_cast<uint4*>(&smem.queries[column][piece * 8]) = eight;
  }
}

template <int kRows, int kHeads>
__device__ void load_rows(FewStorage<kRows, kHeads>& smem, const FewPlace& at) {
  const StatisticsArgs& a = at.a;
  const DeviceSequence& sequence = at.sequence;
  for (int column = threadIdx.x; column < kRows * kHeads; column += kThreads) {
    const int head = column / kRows, row = column % kRows;
    const bool exists = row < sequence.query_rows && head < at.heads;
    const std::int64_t padded =
        static_cast<std::int64_t>(at.first_head + head) * a.padded_rows + sequence.padded_start + row;
    smem.shift[column] = exists ? a.row_shift[padded] : INFINITY;
    const float norm = exists && at.moments ? at.m.norms[padded] : 0.0f;
    smem.inverse_norm[column] = norm > 0 ? 1.0f / norm : 0.0f;
  }
  for (int row = threadIdx.x; row < kRows; row += kThreads)
    smem.close[row] = row < sequence.query_rows && a.row_weights != nullptr
                          ? a.close_of_row[sequence.padded_start + row]
                          : -1;
  for (int column = threadIdx.x; column < FewStorage<kRows, kHeads>::kCodes; column += kThreads) {
    const int row = column % kRows,
              group = row < sequence.query_rows ? a.row_groups[sequence.padded_start + row] : 255;
    smem.output[column] =
        static_cast<std::uint8_t>(group < a.groups ? column / kRows * a.groups + group : 255);
  }
}

// Fragments of eight columns, as QuadRow has them.
template <int kRows, int kHeads>
__device__ QuadRow octet_of(const FewStorage<kRows, kHeads>& smem, int first) {
  const int lane = threadIdx.x % 32;
  const Bf16* row = &smem.queries[first + lane / 4][lane % 4 * 8];
  QuadRow out;
#pragma unroll
  for (int i = 0; i < QuadRow::kPieces; ++i) out.piece[i] = *reinterpret_cast<const uint4*>(row + 32 * i);
  return out;
}

// Weights from the scores of a chunk; those of close rows go out.
template <int kRows, int kHeads, int kNumbers>
__device__ void weigh(float (&s)[kNumbers], const FewStorage<kRows, kHeads>& smem, const FewPlace& at,
                      const OwnKeys& own, int first) {
  const StatisticsArgs& a = at.a;
  const int quad = threadIdx.x % 4;
#pragma unroll
  for (int t = 0; t < kNumbers / 4; ++t) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int column = first + 8 * t + 2 * quad + e, row = column % kRows,
                head = at.first_head + column / kRows;
      const float shift = smem.shift[column];
      const int close = smem.close[row];
      const bool is_head = column / kRows < at.heads;
      float* weights =
          a.row_weights + (static_cast<std::int64_t>(close) * a.heads + head) * a.row_weight_stride;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float bias = 0;
        if (a.key_bias != nullptr && own.exists[r] && is_head)
          bias = a.key_bias[head * a.key_bias_stride + at.sequence.column_start + own.key[r]] * kLog2E;
        float& weight = s[4 * t + 2 * r + e];
        weight = exp2_approx(fmaf(weight, a.scale, bias - shift));
        if (close >= 0 && own.exists[r] && is_head) weights[own.key[r]] = weight;
        if (a.first_share != nullptr && own.key[r] == 0 && is_head && row < at.sequence.query_rows)
          a.first_share[static_cast<std::int64_t>(head) * a.rows + at.sequence.query_start + row] = weight;
      }
    }
  }
}

// Sums over the columns of a chunk that count towards outputs first..first + 15, of eight keys each: outputs
// lane / 4 and eight more, keys 2 (lane % 4) and the next.
template <int kNumbers>
__device__ void add_outputs(float (&sums)[2][4], const float (&s)[kNumbers], const std::uint8_t* outputs,
                            int first) {
  const int lane = threadIdx.x % 32, output = first + lane / 4;
  const std::uint8_t* pair = outputs + lane % 4 * 2;
  const bool wide = kNumbers > 4;
  const std::uint32_t hot[4] = {one_hot_pair(pair, output), one_hot_pair(pair, output + 8),
                                wide ? one_hot_pair(pair + 8, output) : 0,
                                wide ? one_hot_pair(pair + 8, output + 8) : 0};
#pragma unroll
  for (int r = 0; r < 2; ++r)
    multiply_add(sums[r], hot, pack_bf16(s[2 * r], s[2 * r + 1]),
                 wide ? pack_bf16(s[kNumbers - 4 + 2 * r], s[kNumbers - 4 + 2 * r + 1]) : 0);
}

// The outputs of one product, of heads from `head` on.
__device__ inline void write_outputs(const float (&sums)[2][4], const FewPlace& at, int first_key, int head,
                                     int first) {
  const StatisticsArgs& a = at.a;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int output = first + lane / 4 + 8 * half, number = output / a.groups, group = output % a.groups;
    if (head + number >= at.heads) continue;
    float* to = a.received +
                (static_cast<std::int64_t>(group) * a.heads + at.first_head + head + number) * a.columns +
                at.sequence.column_start;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int key = first_key + 8 * r + lane % 4 * 2;
      const float2 two{sums[r][2 * half], sums[r][2 * half + 1]};
      if (key + 1 < at.sequence.key_rows && reinterpret_cast<std::uintptr_t>(to + key) % 8 == 0) {
        *reinterpret_cast<float2*>(to + key) = two;
      } else {
        if (key < at.sequence.key_rows) to[key] = two.x;
        if (key + 1 < at.sequence.key_rows) to[key + 1] = two.y;
      }
    }
  }
}

// What a thread keeps of the scores for the moments: of its own heads and its two keys.
template <int kOwn>
struct OwnSums {
  float dot[kOwn][2] = {}, cosine[kOwn][2] = {}, self[kOwn][2] = {};
};

// Scores of a chunk of columns, before they become weights.
template <int kRows, int kHeads, int kNumbers>
__device__ void multiply_chunk(float (&s)[kNumbers], const FewStorage<kRows, kHeads>& smem,
                               const OwnKeys& own, int first) {
#pragma unroll
  for (int i = 0; i < kNumbers; ++i) s[i] = 0;
#pragma unroll
  for (int t = 0; t < kNumbers / 4; ++t)
    multiply_add_rows(s + 4 * t, own.row[0], own.row[1], octet_of(smem, first + 8 * t));
}

// The scores' products with 1 / |q|, or those of keys with the queries of their own positions.
template <int kRows, int kHeads, int kNumbers>
__device__ void cosines_of(float (&out)[kNumbers], const float (&s)[kNumbers],
                           const FewStorage<kRows, kHeads>& smem, int first) {
#pragma unroll
  for (int i = 0; i < kNumbers; ++i)
    out[i] = s[i] * smem.inverse_norm[first + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2];
}
template <int kRows, int kNumbers>
__device__ void selves_of(float (&out)[kNumbers], const float (&s)[kNumbers], const FewPlace& at,
                          const OwnKeys& own, int first) {
#pragma unroll
  for (int i = 0; i < kNumbers; ++i) {
    const int row = (first + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2) % kRows, key = own.key[i / 2 % 2];
    out[i] = key - at.sequence.first_position == row ? s[i] : 0.0f;
  }
}

// All columns, chunk after chunk; where a head has several, head after head.
template <int kRows, int kHeads>
__device__ void weigh_keys(OwnSums<kHeads / 4>& own_sums, const FewStorage<kRows, kHeads>& smem,
                           const FewPlace& at, const OwnKeys& own, int first_key) {
  using Columns = FewColumns<kRows, kHeads>;
  constexpr int kNumbers = 4 * Columns::kTiles;
  const StatisticsArgs& a = at.a;
  const bool weights = a.received != nullptr || a.row_weights != nullptr || a.first_share != nullptr;
  if constexpr (kRows < 16) {
#pragma unroll 1
    for (int chunk = 0; chunk < Columns::kChunks; ++chunk) {
      const int first = chunk * Columns::kChunk, head = chunk * Columns::kHeadsOfChunk;
      if (head >= at.heads) break;
      float s[kNumbers], other[kNumbers];
      multiply_chunk(s, smem, own, first);
      if (at.moments) {
        Columns::give(s, chunk, own_sums.dot);
        cosines_of(other, s, smem, first);
        Columns::give(other, chunk, own_sums.cosine);
        if (at.has_selves) {
          selves_of<kRows>(other, s, at, own, first);
          Columns::give(other, chunk, own_sums.self);
        }
      }
      if (!weights) continue;
      weigh(s, smem, at, own, first);
      if (a.received == nullptr) continue;
      const int outputs = min(Columns::kHeadsOfChunk, at.heads - head) * a.groups;
      for (int output = 0; output < outputs; output += 16) {
        float sums[2][4] = {};
        add_outputs(sums, s, smem.output, output);
        write_outputs(sums, at, first_key, head, output);
      }
    }
  } else {
#pragma unroll 1
    for (int head = 0; head < at.heads; ++head) {
      float dot[2] = {}, cosine[2] = {}, self[2] = {}, received[2][4] = {};
#pragma unroll
      for (int part = 0; part < Columns::kChunksOfHead; ++part) {
        const int first = head * kRows + 16 * part;
        float s[kNumbers], other[kNumbers];
        multiply_chunk(s, smem, own, first);
        if (at.moments) {
          cosines_of(other, s, smem, first);
#pragma unroll
          for (int i = 0; i < kNumbers; ++i) dot[i / 2 % 2] += s[i], cosine[i / 2 % 2] += other[i];
          if (at.has_selves) {
            selves_of<kRows>(other, s, at, own, first);
#pragma unroll
            for (int i = 0; i < kNumbers; ++i) self[i / 2 % 2] += other[i];
          }
        }
        if (!weights) continue;
        weigh(s, smem, at, own, first);
        if (a.received != nullptr) add_outputs(received, s, smem.output + 16 * part, 0);
      }
      if (at.moments) {
        Columns::give_head(dot, head, own_sums.dot);
        Columns::give_head(cosine, head, own_sums.cosine);
        if (at.has_selves) Columns::give_head(self, head, own_sums.self);
      }
      if (a.received != nullptr) write_outputs(received, at, first_key, head, 0);
    }
  }
}

template <int kRows, int kHeads>
__device__ void load_keys(OwnKeys& own, const FewPlace& at, int first_key) {
  const StatisticsArgs& a = at.a;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    own.key[r] = first_key + threadIdx.x % 32 / 4 + 8 * r;
    own.exists[r] = own.key[r] < at.sequence.key_rows;
    own.row[r] = {};
    if (own.exists[r])
      load_halves(own.row[r],
                  a.keys + (static_cast<std::int64_t>(at.sequence.key_start) + own.key[r]) * a.key_stride +
                      static_cast<std::int64_t>(at.key_head) * a.head_dim,
                  a.head_dim / 2, a.aligned);
  }
}

// How many layers one launch measures.
constexpr int kMostTogether = 12;

struct FewLayers {
  FewLayer of[kMostTogether];
};

template <int kRows, int kHeads>
__global__ void __launch_bounds__(kThreads, 4) statistics_few(const __grid_constant__ FewLayers layers) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto& smem = *reinterpret_cast<FewStorage<kRows, kHeads>*>(shared);
  const FewLayer& layer = layers.of[blockIdx.z];
  const StatisticsArgs& a = layer.statistics;
  const Tile tile = a.tiles[blockIdx.x];
  const int heads = a.heads_per_key_head, key_head = blockIdx.y;
  FewPlace at{a,
              layer.moments,
              a.sequences[tile.sequence],
              key_head,
              key_head * heads,
              heads,
              layer.moments.heads > 0,
              false};
  if (tile.first >= at.sequence.key_rows) return;
  at.has_selves = tile.first + kKeysOfBlock > at.sequence.first_position;
  const int first_key = tile.first + threadIdx.x / 32 * kKeysOfWarp;
  OwnKeys own;
  load_keys<kRows, kHeads>(own, at, first_key);
  load_queries(smem, at);
  launch_dependents();
  wait_for_prior_grid();  // which sums up queries
  load_rows(smem, at);
  if (at.moments)
    load_sums<kThreads>(smem.before, smem.norm_sum, smem.per_query, at.m, at.sequence, at.first_head);
  __syncthreads();
  OwnSums<kHeads / 4> sums;
  weigh_keys(sums, smem, at, own, first_key);
  if (at.moments) measure_keys<FewColumns<kRows, kHeads>>(sums, smem, at.m, at.sequence, own, key_head);
}

template <int kRows, int kHeads>
void launch(const PlanState& plan, std::span<const FewLayer> layers, const Stream& stream) {
  for (size_t first = 0; first < layers.size(); first += kMostTogether) {
    // Keys are read before the kernel in front has ended: that is the one which sums queries, and it begins
    // when all before it is done.
    const auto some = layers.subspan(first, std::min<size_t>(kMostTogether, layers.size() - first));
    FewLayers all{};
    std::copy(some.begin(), some.end(), all.of);
    launch_kernel(
        {.grid = dim3(static_cast<unsigned>(plan.key_tiles_64.count),
                      static_cast<unsigned>(plan.shape.kv_heads), static_cast<unsigned>(some.size())),
         .block = kThreads,
         .shared_bytes = sizeof(FewStorage<kRows, kHeads>),
         .early = plan.early && first == 0 && some[0].moments.heads > 0},
        stream, "statistics_few", statistics_few<kRows, kHeads>, all);
  }
}

template <int kHeads>
void launch(const PlanState& plan, std::span<const FewLayer> layers, const Stream& stream) {
  const std::int64_t rows = plan.longest_rows;
  if (rows == 1) return launch < kHeads == 8 ? 1 : 2, kHeads > (plan, layers, stream);
  if (rows == 2) return launch<2, kHeads>(plan, layers, stream);
  if (rows <= 4) return launch<4, kHeads>(plan, layers, stream);
  if (rows <= 8) return launch<8, kHeads>(plan, layers, stream);
  if (rows <= 16) return launch<16, kHeads>(plan, layers, stream);
  launch<32, kHeads>(plan, layers, stream);
}

}  // namespace

bool few_can_measure(const PlanState& s, const DeviceQkMoments* moments) {
  const bool few = s.longest_rows <= kFewRows && s.shape.heads / s.shape.kv_heads <= kMostHeadsTogether;
  return few && s.all_seen && (moments == nullptr || moments->use_row == nullptr);
}

void launch_statistics_few(const PlanState& plan, std::span<const FewLayer> layers, const Stream& stream) {
  static_assert(kMostHeadsTogether == 8 && kFewRows == 32);
  if (plan.key_tiles_64.count == 0) return;
  if (plan.shape.heads / plan.shape.kv_heads <= 4) return launch<4>(plan, layers, stream);
  launch<8>(plan, layers, stream);
}

}  // namespace buoy::ops

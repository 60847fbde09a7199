// The second pass where rows are few and see every key, as where blocks or single tokens are decoded with a
// cache. One launch measures several layers, since one alone mostly waits. A block takes 64 keys of one head
// of keys and all heads that share them: scores, what is received, rows that are looked at closely and the
// moments, of keys that are read once. The rows of the heads stand side by side as the columns of a product.

#include "buoy/ops/attention/attention_few_weights_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kKeysOfWarp = 16, kKeysOfBlock = kFewThreads / 32 * kKeysOfWarp;
static_assert(kKeysOfBlock == 64);

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
  for (int t = 0; t < kNumbers / 4; ++t) {
    const float2 inverse =
        *reinterpret_cast<const float2*>(&smem.inverse_norm[first + 8 * t + threadIdx.x % 4 * 2]);
#pragma unroll
    for (int i = 4 * t; i < 4 * t + 4; ++i) out[i] = s[i] * (i % 2 == 0 ? inverse.x : inverse.y);
  }
}
template <int kRows, int kHeads, int kNumbers>
__device__ void add_products(float (&dot)[2], float (&cosine)[2], const float (&s)[kNumbers],
                             const FewStorage<kRows, kHeads>& smem, int first) {
#pragma unroll
  for (int t = 0; t < kNumbers / 4; ++t) {
    const float2 inverse =
        *reinterpret_cast<const float2*>(&smem.inverse_norm[first + 8 * t + threadIdx.x % 4 * 2]);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float one = s[4 * t + 2 * r], other = s[4 * t + 2 * r + 1];
      dot[r] += one + other;
      cosine[r] = fmaf(one, inverse.x, fmaf(other, inverse.y, cosine[r]));
    }
  }
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

// All columns, chunk after chunk; where a head has several, head after head. kRowsAlone: all layers want
// moments and rows (what keys receive is summed up from those, by whoever gets them), no key has a bias, and
// nobody asks for the first key's share. So it is as a rule, and there nothing is branched upon.
template <bool kRowsAlone, int kRows, int kHeads>
__device__ void weigh_keys(OwnSums<kHeads / 4>& own_sums, FewStorage<kRows, kHeads>& smem, const FewPlace& at,
                           const OwnKeys& own, int first_key) {
  using Columns = FewColumns<kRows, kHeads>;
  constexpr int kNumbers = 4 * Columns::kTiles;
  const StatisticsArgs& a = at.a;
  const bool moments = kRowsAlone || at.moments, received = !kRowsAlone && a.received != nullptr,
             weights = kRowsAlone || received || a.row_weights != nullptr || a.first_share != nullptr;
  if constexpr (kRows < 16) {
#pragma unroll 1
    for (int chunk = 0; chunk < Columns::kChunks; ++chunk) {
      const int first = chunk * Columns::kChunk, head = chunk * Columns::kHeadsOfChunk;
      if (head >= at.heads) break;
      float s[kNumbers], other[kNumbers];
      multiply_chunk(s, smem, own, first);
      if (moments) {
        Columns::give(s, chunk, own_sums.dot);
        cosines_of(other, s, smem, first);
        Columns::give(other, chunk, own_sums.cosine);
      }
      if (!weights) continue;
      weigh<kRowsAlone>(s, smem, at, own, first);
      write_weights<kRowsAlone>(s, smem, at, own, first_key, first);
      if (!received) continue;
      const int outputs = min(Columns::kHeadsOfChunk, at.heads - head) * a.groups;
#pragma unroll 1
      for (int output = 0; output < outputs; output += 16) {
        float sums[2][4] = {};
        add_outputs(sums, s, smem.output, output);
        write_outputs(sums, smem, at, outputs, first_key, head, output);
      }
    }
  } else {
#pragma unroll 1
    for (int head = 0; head < at.heads; ++head) {
      float dot[2] = {}, cosine[2] = {}, sums[2][4] = {};
#pragma unroll
      for (int part = 0; part < Columns::kChunksOfHead; ++part) {
        const int first = head * kRows + 16 * part;
        float s[kNumbers];
        multiply_chunk(s, smem, own, first);
        if (moments) add_products(dot, cosine, s, smem, first);
        if (!weights) continue;
        weigh<kRowsAlone>(s, smem, at, own, first);
        write_weights<kRowsAlone>(s, smem, at, own, first_key, first);
        if (received) add_outputs(sums, s, smem.output + 16 * part, 0);
      }
      if (moments) {
        Columns::give_head(dot, head, own_sums.dot);
        Columns::give_head(cosine, head, own_sums.cosine);
      }
      if (received) write_outputs(sums, smem, at, a.groups, first_key, head, 0);
    }
  }
}

// Products of keys with the queries of their own positions: few blocks have such keys, and form them again.
template <int kRows, int kHeads>
__device__ void multiply_selves(OwnSums<kHeads / 4>& own_sums, const FewStorage<kRows, kHeads>& smem,
                                const FewPlace& at, const OwnKeys& own) {
  using Columns = FewColumns<kRows, kHeads>;
  constexpr int kNumbers = 4 * Columns::kTiles;
  float self[2] = {};
#pragma unroll 1
  for (int chunk = 0; chunk < Columns::kChunks; ++chunk) {
    const int first = chunk * Columns::kChunk;
    float s[kNumbers], other[kNumbers];
    multiply_chunk(s, smem, own, first);
    selves_of<kRows>(other, s, at, own, first);
    if constexpr (kRows < 16) {
      Columns::give(other, chunk, own_sums.self);
    } else {
#pragma unroll
      for (int i = 0; i < kNumbers; ++i) self[i / 2 % 2] += other[i];
      if ((chunk + 1) % Columns::kChunksOfHead != 0) continue;
      Columns::give_head(self, chunk / Columns::kChunksOfHead, own_sums.self);
      self[0] = self[1] = 0;
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

template <bool kRowsAlone, int kRows, int kHeads>
__global__ void __launch_bounds__(kFewThreads, kHeads == 4 && kRows >= 16 ? 5 : 4)
    statistics_few(const __grid_constant__ FewLayers layers) {
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
              kRowsAlone || layer.moments.heads > 0,
              false};
  if (tile.first >= at.sequence.key_rows) return;
  at.has_selves = tile.first + kKeysOfBlock > at.sequence.first_position;
  const int first_key = tile.first + threadIdx.x / 32 * kKeysOfWarp;
  OwnKeys own;
  load_keys<kRows, kHeads>(own, at, first_key);
  load_queries(smem, at);
  if constexpr (sums_of_own<kRows>) {
    load_rows(smem, at);
    wait_for_copies();
    __syncthreads();
    if (at.moments)
      sum_own_queries<kRows, kHeads, kFewThreads>(smem, at.m, at.sequence, at.first_head, tile.first == 0);
  } else {
    launch_dependents();
    wait_for_prior_grid();  // which sums up queries
    load_rows(smem, at);
    if (at.moments) load_sums<kRows, kHeads, kFewThreads>(smem, at.m, at.sequence, at.first_head);
    wait_for_copies();
  }
  __syncthreads();
  OwnSums<kHeads / 4> sums;
  weigh_keys<kRowsAlone>(sums, smem, at, own, first_key);
  if (!at.moments) return;
  if (at.has_selves) multiply_selves(sums, smem, at, own);
  measure_keys<FewColumns<kRows, kHeads>>(sums, smem.sums, at.m, at.sequence, own, key_head);
}

template <int kRows, int kHeads>
void launch(const PlanState& plan, std::span<const FewLayer> layers, const Stream& stream) {
  const bool rows_alone = std::all_of(layers.begin(), layers.end(), [](const FewLayer& layer) {
    const StatisticsArgs& a = layer.statistics;
    return layer.moments.heads > 0 && a.received == nullptr && a.row_weights != nullptr &&
           a.key_bias == nullptr && a.first_share == nullptr;
  });
  for (size_t first = 0; first < layers.size(); first += kMostTogether) {
    // Keys are read before the kernel in front has ended: that is the one which sums queries, and it begins
    // when all before it is done.
    const auto some = layers.subspan(first, std::min<size_t>(kMostTogether, layers.size() - first));
    FewLayers all{};
    std::copy(some.begin(), some.end(), all.of);
    launch_kernel(
        {.grid = dim3(static_cast<unsigned>(plan.key_tiles_64.count),
                      static_cast<unsigned>(plan.shape.kv_heads), static_cast<unsigned>(some.size())),
         .block = kFewThreads,
         .shared_bytes = sizeof(FewStorage<kRows, kHeads>),
         .early = plan.early && !sums_of_own<kRows> && first == 0 && some[0].moments.heads > 0},
        stream, "statistics_few",
        rows_alone ? statistics_few<true, kRows, kHeads> : statistics_few<false, kRows, kHeads>, all);
  }
}

template <int kHeads>
void launch(const PlanState& plan, std::span<const FewLayer> layers, const Stream& stream) {
  const std::int64_t rows = plan.longest_rows;
  constexpr int kLeast = kHeads == 8 ? 1 : 2;
  if (rows == 1) return launch<kLeast, kHeads>(plan, layers, stream);
  if (rows == 2) return launch<2, kHeads>(plan, layers, stream);
  if (rows <= 4) return launch<4, kHeads>(plan, layers, stream);
  if (rows <= 8) return launch<8, kHeads>(plan, layers, stream);
  if (rows <= 16) return launch<16, kHeads>(plan, layers, stream);
  launch<32, kHeads>(plan, layers, stream);
}

}  // namespace

bool few_sum_themselves(const PlanState& plan) {
  return plan.longest_rows <= kMostOwnRows;
}

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

// What the statistics of few rows keep in shared memory, and what becomes of the scores of a chunk of
// columns: weights, sums over the rows of each group.

#pragma once

#include "buoy/ops/attention/attention_few_columns_cuda.cuh"
#include "buoy/ops/attention/attention_general_cuda.cuh"
#include "buoy/ops/attention/attention_statistics_few_cuda.cuh"
#include "buoy/ops/moments/qk_moments_few_cuda.cuh"

namespace buoy::ops {

inline constexpr int kFewThreads = 128;

// Sixteen rows of sixteen keys of a warp, on their way out: a row of a product is spread over the warp, in
// memory its keys follow each other.
struct WarpTile {
  float numbers[16][20];  // wide enough to keep banks apart

  // Of the scores of a chunk, rows are its columns: value 4 t + 2 r + e of a thread is that of column 8 t + 2
  // (lane % 4) + e and key lane / 4 + 8 r.
  template <int kNumbers>
  __device__ void put_columns(const float (&s)[kNumbers]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kNumbers; ++i)
      numbers[i / 4 * 8 + lane % 4 * 2 + i % 2][lane / 4 + i / 2 % 2 * 8] = s[i];
  }
  // Of sums over columns, rows are outputs: lane / 4 + 8 h, keys 2 (lane % 4) and the next, of eight keys r.
  __device__ void put_outputs(const float (&sums)[2][4]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int h = 0; h < 2; ++h)
        *reinterpret_cast<float2*>(&numbers[lane / 4 + 8 * h][lane % 4 * 2 + 8 * r]) = {sums[r][2 * h],
                                                                                        sums[r][2 * h + 1]};
    }
  }
  // Four keys of row lane / 4 + 8 h to `to` + 4 (lane % 4), as far as `left` keys of the sixteen exist.
  __device__ void write(int h, float* to, int left) const {
    const int lane = threadIdx.x % 32, first = lane % 4 * 4;
    const float4 four = *reinterpret_cast<const float4*>(&numbers[lane / 4 + 8 * h][first]);
    to += first;
    left -= first;
    if (left >= 4 && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
      *reinterpret_cast<float4*>(to) = four;
      return;
    }
    if (left > 0) to[0] = four.x;
    if (left > 1) to[1] = four.y;
    if (left > 2) to[2] = four.z;
    if (left > 3) to[3] = four.w;
  }
};

// The queries of all heads, and what is known of them. Columns without a row hold zeros and weigh nothing.
template <int kRows, int kHeads>
struct FewStorage {
  using Columns = FewColumns<kRows, kHeads>;
  static constexpr int kCodes = kRows < 16 ? Columns::kChunk : kRows;
  static constexpr int kMostOutputs = (Columns::kHeadsOfChunk * kMostGroups + 15) / 16 * 16;
  Bf16 queries[Columns::kColumns][kMostDim];  // as place_in_column() says
  FewSums<kHeads> sums;
  WarpTile tile[kRows < 16 ? kFewThreads / 32 : 1];  // of each warp, where rows leave by it
  float shift[Columns::kColumns], norm[Columns::kColumns], inverse_norm[Columns::kColumns];
  alignas(16) std::int64_t
      close[kRows < 2 ? 2 : kRows];  // where the row's weights begin; below zero: nobody looks closely
  // Where outputs begin, head * groups + group: those of the heads of one chunk.
  std::int64_t output_at[kMostOutputs];
  // Of the columns of a chunk: which output a row counts towards.
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
  constexpr int kPieces = kMostDim / 8, kColumnsAtOnce = kFewThreads / kPieces;
  const StatisticsArgs& a = at.a;
  const int half = a.head_dim / 2, piece = threadIdx.x % kPieces, first = threadIdx.x / kPieces;
  const int in_half = piece % 8 * 8;
  const Bf16* from = a.queries + static_cast<std::int64_t>(at.sequence.query_start) * a.query_stride +
                     static_cast<std::int64_t>(at.first_head) * a.head_dim + piece / 8 * half;
  const bool exists = in_half < half;
#pragma unroll
  for (int i = 0; i < kRows * kHeads / kColumnsAtOnce; ++i) {
    const int column = first + i * kColumnsAtOnce, head = column / kRows, row = column % kRows;
    const Bf16* query = from + row * a.query_stride + head * a.head_dim;
    const bool there = exists && row < at.sequence.query_rows && head < at.heads;
    Bf16* to = &smem.queries[column][place_in_column(column, piece * 8)];
    if (a.aligned) {
      copy_async_or_zero(shared_address(to), there ? query + in_half : a.queries, there);
    } else {
      *reinterpret_cast<uint4*>(to) = there ? load_eight(query, in_half, half, false) : uint4{0, 0, 0, 0};
    }
  }
  commit_copies();
}

template <int kRows, int kHeads>
__device__ void load_rows(FewStorage<kRows, kHeads>& smem, const FewPlace& at) {
  using Storage = FewStorage<kRows, kHeads>;
  const StatisticsArgs& a = at.a;
  const DeviceSequence& sequence = at.sequence;
  for (int column = threadIdx.x; column < kRows * kHeads; column += kFewThreads) {
    const int head = column / kRows, row = column % kRows;
    const bool exists = row < sequence.query_rows && head < at.heads;
    const std::int64_t padded =
        static_cast<std::int64_t>(at.first_head + head) * a.padded_rows + sequence.padded_start + row;
    smem.shift[column] = exists ? a.row_shift[padded] : INFINITY;
  }
  for (int row = threadIdx.x; row < kRows; row += kFewThreads) {
    const int close = row < sequence.query_rows && a.row_weights != nullptr
                          ? a.close_of_row[sequence.padded_start + row]
                          : -1;
    smem.close[row] = close * (a.heads * a.row_weight_stride);
  }
  for (int column = threadIdx.x; column < Storage::kCodes; column += kFewThreads) {
    const int row = column % kRows,
              group = row < sequence.query_rows ? a.row_groups[sequence.padded_start + row] : 255;
    smem.output[column] =
        static_cast<std::uint8_t>(group < a.groups ? column / kRows * a.groups + group : 255);
  }
  const int outputs = Storage::Columns::kHeadsOfChunk * a.groups;
  for (int output = threadIdx.x; output < outputs; output += kFewThreads) {
    const int number = output / a.groups, group = output % a.groups;
    smem.output_at[output] = (static_cast<std::int64_t>(group) * a.heads + number) * a.columns;
  }
}

// Fragments of eight columns, as QuadRow has them.
template <int kRows, int kHeads>
__device__ QuadRow octet_of(const FewStorage<kRows, kHeads>& smem, int first) {
  const int lane = threadIdx.x % 32, column = first + lane / 4;
  QuadRow out;
#pragma unroll
  for (int i = 0; i < QuadRow::kPieces; ++i)
    out.piece[i] = *reinterpret_cast<const uint4*>(
        &smem.queries[column][place_in_column(column, 32 * i + lane % 4 * 8)]);
  return out;
}

// Weights from the scores of the chunk of columns from `first` on.
template <bool kRowsAlone, int kRows, int kHeads, int kNumbers>
__device__ void weigh(float (&s)[kNumbers], const FewStorage<kRows, kHeads>& smem, const FewPlace& at,
                      const OwnKeys& own, int first) {
  const StatisticsArgs& a = at.a;
  const int quad = threadIdx.x % 4;
#pragma unroll
  for (int t = 0; t < kNumbers / 4; ++t) {
    const float2 shift = *reinterpret_cast<const float2*>(&smem.shift[first + 8 * t + 2 * quad]);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      s[4 * t + 2 * r] = fmaf(s[4 * t + 2 * r], a.scale, -shift.x);
      s[4 * t + 2 * r + 1] = fmaf(s[4 * t + 2 * r + 1], a.scale, -shift.y);
    }
  }
  if (!kRowsAlone && a.key_bias != nullptr) {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      const int column = first + i / 4 * 8 + 2 * quad + i % 2, head = column / kRows, r = i / 2 % 2;
      if (own.exists[r] && head < at.heads)
        s[i] +=
            a.key_bias[(at.first_head + head) * a.key_bias_stride + at.sequence.column_start + own.key[r]] *
            kLog2E;
    }
  }
#pragma unroll
  for (int i = 0; i < kNumbers; ++i) s[i] = exp2_approx(s[i]);
}

// Weights of close rows, and what rows give the first key. `first_key`: the warp's.
template <bool kRowsAlone, int kRows, int kHeads, int kNumbers>
__device__ void write_weights(const float (&s)[kNumbers], FewStorage<kRows, kHeads>& smem, const FewPlace& at,
                              const OwnKeys& own, int first_key, int first) {
  const StatisticsArgs& a = at.a;
  const int quad = threadIdx.x % 4;
  if (kRowsAlone || a.row_weights != nullptr) {
    if constexpr (kRows >= 16) {
      // Chunk follows chunk: none waits for what another has in memory.
      float* keys = a.row_weights + (at.first_head + first / kRows) * a.row_weight_stride + own.key[0];
#pragma unroll
      for (int t = 0; t < kNumbers / 4; ++t) {
        const longlong2 two =
            *reinterpret_cast<const longlong2*>(&smem.close[first % kRows + 8 * t + 2 * quad]);
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const std::int64_t close = e == 0 ? two.x : two.y;
          if (close >= 0 && own.exists[0]) keys[close] = s[4 * t + e];
          if (close >= 0 && own.exists[1]) keys[close + 8] = s[4 * t + 2 + e];
        }
      }
    } else {
      WarpTile& tile = smem.tile[threadIdx.x / 32];
      __syncwarp();
      tile.put_columns(s);
      __syncwarp();
#pragma unroll
      for (int h = 0; h < kNumbers / 4; ++h) {
        const int column = first + threadIdx.x % 32 / 4 + 8 * h, head = column / kRows;
        const std::int64_t close = smem.close[column % kRows];
        if (close >= 0 && head < at.heads)
          tile.write(h, a.row_weights + close + (at.first_head + head) * a.row_weight_stride + first_key,
                     at.sequence.key_rows - first_key);
      }
    }
  }
  if constexpr (!kRowsAlone) {
    if (a.first_share == nullptr || own.key[0] != 0) return;
#pragma unroll
    for (int i = 0; i < kNumbers / 2; ++i) {
      const int column = first + i / 2 * 8 + 2 * quad + i % 2, head = column / kRows, row = column % kRows;
      if (head < at.heads && row < at.sequence.query_rows)
        a.first_share[static_cast<std::int64_t>(at.first_head + head) * a.rows + at.sequence.query_start +
                      row] = s[i / 2 * 4 + i % 2];
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
  constexpr bool kWide = kNumbers > 4;
  std::uint32_t hot[4] = {one_hot_pair(pair, output), one_hot_pair(pair, output + 8), 0, 0};
  if constexpr (kWide) {
    hot[2] = one_hot_pair(pair + 8, output);
    hot[3] = one_hot_pair(pair + 8, output + 8);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r)
    multiply_add(sums[r], hot, pack_bf16(s[2 * r], s[2 * r + 1]),
                 kWide ? pack_bf16(s[kNumbers - 4 + 2 * r], s[kNumbers - 4 + 2 * r + 1]) : 0);
}

// The outputs first..first + 15 of one product, of heads from `head` on.
template <int kRows, int kHeads>
__device__ void write_outputs(const float (&sums)[2][4], FewStorage<kRows, kHeads>& smem, const FewPlace& at,
                              int outputs, int first_key, int head, int first) {
  const StatisticsArgs& a = at.a;
  const int lane = threadIdx.x % 32, left = at.sequence.key_rows - first_key;
  float* to = a.received + static_cast<std::int64_t>(at.first_head + head) * a.columns +
              at.sequence.column_start + first_key;
  if constexpr (kRows < 16) {
    WarpTile& tile = smem.tile[threadIdx.x / 32];
    __syncwarp();
    tile.put_outputs(sums);
    __syncwarp();
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int output = first + lane / 4 + 8 * h;
      if (output < outputs) tile.write(h, to + smem.output_at[output], left);
    }
  } else {
    const int key = lane % 4 * 2;
    const bool pairs = a.columns % 2 == 0 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int output = first + lane / 4 + 8 * h;
      if (output >= outputs) continue;
      float* keys = to + smem.output_at[output] + key;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int there = left - key - 8 * r;
        const float2 two{sums[r][2 * h], sums[r][2 * h + 1]};
        if (pairs && there > 1) {
          *reinterpret_cast<float2*>(keys + 8 * r) = two;
        } else {
          if (there > 0) keys[8 * r] = two.x;
          if (there > 1) keys[8 * r + 1] = two.y;
        }
      }
    }
  }
}

}  // namespace buoy::ops

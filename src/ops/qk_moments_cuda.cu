// Two kernels. The first sums the queries by chunks of rows. The second multiplies every key with the sum of
// the chunks that see it as a whole, and where a mask cuts through a chunk with its queries one by one, on
// the tensor cores.

#include "ops/qk_moments_cuda.h"

#include "ops/attention_launch_cuda.cuh"
#include "ops/attention_mma_cuda.cuh"
#include "ops/attention_plan_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kMostDim = 128, kSets = 2, kWidth = kMomentWidth;

struct MomentArgs {
  const DeviceSequence* sequences;
  const Tile *row_chunks, *key_tiles;
  // [sets, heads, chunk, kWidth]: sum of queries, of their directions, of their norms, their number. A
  // sequence's chunks start at padded_start / kRowsPadded.
  float* sums;
  float* norms;  // [sets, heads, padded_rows]: of the queries; below zero for those not taken
  int chunk_rows, heads, heads_per_key_head, head_dim, mask_block, rows, padded_rows, columns;
  bool aligned[kSets];
  CudaQkMoments sets[kSets];
};

__device__ float* sums_of(const MomentArgs& args, const DeviceSequence& sequence, int first_row, int head) {
  const std::int64_t most_chunks = args.padded_rows / kRowsPadded;
  const std::int64_t chunk = sequence.padded_start / kRowsPadded + first_row / args.chunk_rows;
  return args.sums +
         ((static_cast<std::int64_t>(blockIdx.z) * args.heads + head) * most_chunks + chunk) * kWidth;
}

__device__ float* norms_of(const MomentArgs& args, const DeviceSequence& sequence, int head) {
  return args.norms + (static_cast<std::int64_t>(blockIdx.z) * args.heads + head) * args.padded_rows +
         sequence.padded_start;
}

__device__ const Bf16* row_of(const std::uint16_t* states, std::int64_t stride, std::int64_t row, int head,
                              int head_dim) {
  return reinterpret_cast<const Bf16*>(states) + row * stride + static_cast<std::int64_t>(head) * head_dim;
}

__device__ float sum_of_quad(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

__device__ float dot_of_quad(const QuadRow& a, const QuadRow& b) {
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

constexpr int kSumWarps = 4, kSumThreads = 32 * kSumWarps, kLanesOfRow = 8,
              kRowsAtOnce = kSumThreads / kLanesOfRow;

// What the four rows of a warp have in 32 numbers each becomes eight sums per lane: at each step a lane keeps
// one half and hands the other to its partner.
__device__ void add_rows_of_warp(float (&a)[32]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 16, step = 16; half >= 8; half /= 2, step /= 2) {
    const bool upper = (lane & step) != 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      if (i >= half) break;
      const float given = upper ? a[i] : a[i + half], kept = upper ? a[i + half] : a[i];
      a[i] = kept + __shfl_xor_sync(~0u, given, step);
    }
  }
}

__device__ void unpack_eight(const uint4& piece, float (&out)[8]) {
  const std::uint32_t pairs[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    out[2 * e] = __uint_as_float(pairs[e] << 16);
    out[2 * e + 1] = __uint_as_float(pairs[e] & 0xFFFF0000u);
  }
}

// Eight lanes to a row, each with columns 8 l..8 l + 7 of both halves.
__global__ void __launch_bounds__(kSumThreads, 4) sum_queries(const __grid_constant__ MomentArgs args) {
  __shared__ float partial[kSumWarps][kWidth + 2];
  const CudaQkMoments& set = args.sets[blockIdx.z];
  const Tile chunk = args.row_chunks[blockIdx.x];
  const DeviceSequence sequence = args.sequences[chunk.sequence];
  const int head = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32,
            part = lane % kLanesOfRow * 8;
  const int end = min(chunk.first + args.chunk_rows, sequence.query_rows);
  float* norms = norms_of(args, sequence, head);
  float sums[32] = {}, norm_sum = 0, taken_sum = 0;
  constexpr int kTurns = 8;
  // In this order: the next kernel reads keys as soon as it starts.
  wait_for_previous();
  let_next_start();
  for (int first = chunk.first + threadIdx.x / kLanesOfRow; first - threadIdx.x / kLanesOfRow < end;
       first += kTurns * kRowsAtOnce) {
    uint4 piece[kTurns][2] = {};
#pragma unroll
    for (int n = 0; n < kTurns; ++n) {
      const int row = first + n * kRowsAtOnce;
      if (row >= end) continue;
      const Bf16* query = row_of(set.inputs.queries, set.inputs.query_stride, sequence.query_start + row,
                                 head, args.head_dim);
#pragma unroll
      for (int i = 0; i < 2; ++i)
        piece[n][i] = load_eight(query, 64 * i + part, args.head_dim, args.aligned[blockIdx.z]);
    }
#pragma unroll
    for (int n = 0; n < kTurns; ++n) {
      const int row = first + n * kRowsAtOnce, packed = sequence.query_start + row;
      float x[2][8], squares = 0;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        unpack_eight(piece[n][i], x[i]);
#pragma unroll
        for (int e = 0; e < 8; ++e) squares = fmaf(x[i][e], x[i][e], squares);
      }
#pragma unroll
      for (int step = 1; step < kLanesOfRow; step *= 2) squares += __shfl_xor_sync(~0u, squares, step);
      const float norm = sqrtf(squares);
      const bool exists = row < end, taken = exists && (set.use_row == nullptr || set.use_row[packed] != 0);
      if (exists && part == 0) {
        if (set.query_norm != nullptr)
          set.query_norm[static_cast<std::int64_t>(head) * args.rows + packed] = norm;
        norms[row] = taken ? norm : -1.0f;
      }
      if (!taken) continue;
      const float inverse = norm > 0 ? 1.0f / norm : 0.0f;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          sums[8 * i + e] += x[i][e];
          sums[16 + 8 * i + e] = fmaf(x[i][e], inverse, sums[16 + 8 * i + e]);
        }
      }
      norm_sum += norm;
      taken_sum += 1;
    }
  }
  add_rows_of_warp(sums);
#pragma unroll
  for (int step = kLanesOfRow; step < 32; step *= 2) {
    norm_sum += __shfl_xor_sync(~0u, norm_sum, step);
    taken_sum += __shfl_xor_sync(~0u, taken_sum, step);
  }
  // Where the halving left which sums: bit 4 of the lane tells queries from directions, bit 3 the half of the
  // columns.
  const int at = lane / 16 * kMostDim + lane / 8 % 2 * 64 + part;
#pragma unroll
  for (int e = 0; e < 8; ++e) partial[warp][at + e] = sums[e];
  if (lane == 0) {
    partial[warp][2 * kMostDim] = norm_sum;
    partial[warp][2 * kMostDim + 1] = taken_sum;
  }
  __syncthreads();
  float* out = sums_of(args, sequence, chunk.first, head);
  for (int i = threadIdx.x; i < kWidth; i += kSumThreads) {
    float sum = 0;
    for (int w = 0; w < kSumWarps; ++w) sum += partial[w][i];
    out[i] = sum;
  }
}

constexpr int kColumnThreads = 128, kChunksAtOnce = 8;
// Two for the fragments of a product, twice.
constexpr int kKeysOfThread = 4, kKeysOfBlock = kColumnThreads / 4 * kKeysOfThread;

// What is summed over the queries that see a key.
struct KeySums {
  float dot = 0, cosine = 0, norms = 0, taken = 0;
};

// Rows [first, end) one by one, eight at a time: the keys of a warp are the left operand.
__device__ void add_single_rows(KeySums* sums, const MomentArgs& args, const CudaQkMoments& set,
                                const DeviceSequence& sequence, int head, const QuadRow* key,
                                const int* seen_from, int first, int end) {
  const float* norms = norms_of(args, sequence, head);
  const int lane = threadIdx.x % 32;
  for (int octet = first; octet < end; octet += 8) {
    QuadRow query;
    query.load(row_of(set.inputs.queries, set.inputs.query_stride,
                      sequence.query_start + min(octet + lane / 4, end - 1), head, args.head_dim),
               args.head_dim, args.aligned[blockIdx.z]);
    float s[4] = {};
    multiply_add_rows(s, key[0], key[1], query);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = octet + lane % 4 * 2 + i % 2, r = i / 2;
      if (row >= end || row < seen_from[r] || norms[row] < 0) continue;
      sums[r].dot += s[i];
      sums[r].cosine += norms[row] > 0 ? s[i] / norms[row] : 0.0f;
      sums[r].norms += norms[row];
      sums[r].taken += 1;
    }
  }
}

// kSingle: there may be rows that only some keys of a tile see.
template <bool kSingle>
__global__ void __launch_bounds__(kColumnThreads, 4) key_columns(const __grid_constant__ MomentArgs args) {
  __shared__ __align__(16) float of_queries[kWidth];
  const CudaQkMoments& set = args.sets[blockIdx.z];
  const bool aligned = args.aligned[blockIdx.z];
  const Tile tile = args.key_tiles[blockIdx.x];
  const DeviceSequence sequence = args.sequences[tile.sequence];
  const int head = blockIdx.y, key_head = head / args.heads_per_key_head, lane = threadIdx.x % 32;
  const int last_key = min(tile.first + kKeysOfBlock, sequence.key_rows) - 1;
  const int first_row = min(first_seeing_row(args.mask_block, sequence, tile.first), sequence.query_rows);
  const int last_seen_from = min(first_seeing_row(args.mask_block, sequence, last_key), sequence.query_rows);
  // From here on chunks are seen as a whole by all keys of the tile.
  const int whole =
      min((last_seen_from + args.chunk_rows - 1) / args.chunk_rows * args.chunk_rows, sequence.query_rows);

  QuadRow key_row[kKeysOfThread] = {};
  int key[kKeysOfThread], seen_from[kKeysOfThread];
#pragma unroll
  for (int r = 0; r < kKeysOfThread; ++r) {
    key[r] = tile.first + threadIdx.x / 32 * 8 * kKeysOfThread + lane / 4 + 8 * r;
    seen_from[r] = first_seeing_row(args.mask_block, sequence, key[r]);
    if (key[r] <= last_key)
      key_row[r].load(row_of(set.inputs.keys, set.inputs.key_stride, sequence.key_start + key[r], key_head,
                             args.head_dim),
                      args.head_dim, aligned);
  }
  wait_for_previous();
  let_next_start();
  const float* chunk = sums_of(args, sequence, whole, head);
  const int chunks = (sequence.query_rows - whole + args.chunk_rows - 1) / args.chunk_rows;
  constexpr int kColumns = (kWidth + kColumnThreads - 1) / kColumnThreads;
  float total[kColumns] = {};
  for (int first = 0; first < chunks; first += kChunksAtOnce) {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int i = threadIdx.x + c * kColumnThreads;
#pragma unroll
      for (int n = 0; n < kChunksAtOnce; ++n)
        total[c] += first + n < chunks && i < kWidth ? chunk[(first + n) * kWidth + i] : 0.0f;
    }
  }
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int i = threadIdx.x + c * kColumnThreads;
    if (i < kWidth) of_queries[i] = total[c];
  }
  KeySums sums[kKeysOfThread];
  if (kSingle) {
#pragma unroll
    for (int r = 0; r < kKeysOfThread; r += 2)
      add_single_rows(sums + r, args, set, sequence, head, key_row + r, seen_from + r, first_row, whole);
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kKeysOfThread; ++r) {
    float own = 0;
#pragma unroll
    for (int i = 0; i < QuadRow::kPieces; ++i) {
      float x[8];
      key_row[r].unpack(i, x);
      const float* vector = of_queries + 32 * i + lane % 4 * 8;
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        sums[r].dot = fmaf(vector[e], x[e], sums[r].dot);
        sums[r].cosine = fmaf(vector[kMostDim + e], x[e], sums[r].cosine);
        own = fmaf(x[e], x[e], own);
      }
    }
    const float norm = sqrtf(sum_of_quad(own)), dot = sum_of_quad(sums[r].dot),
                cosine = sum_of_quad(sums[r].cosine);
    const float norms = sum_of_quad(sums[r].norms) + of_queries[2 * kMostDim];
    const float taken = sum_of_quad(sums[r].taken) + of_queries[2 * kMostDim + 1];
    const bool exists = key[r] <= last_key;
    float self = 0, value_norm = 0;
    if (set.self_dot != nullptr) {
      const int own_row = key[r] - sequence.first_position;
      QuadRow query = {};
      if (exists && own_row >= 0 && own_row < sequence.query_rows)
        query.load(row_of(set.inputs.queries, set.inputs.query_stride, sequence.query_start + own_row, head,
                          args.head_dim),
                   args.head_dim, aligned);
      self = dot_of_quad(query, key_row[r]);
    }
    const bool first_of_group = head % args.heads_per_key_head == 0;
    if (set.value_norm != nullptr && first_of_group) {
      QuadRow value = {};
      if (exists)
        value.load(row_of(set.inputs.values, set.inputs.value_stride, sequence.key_start + key[r], key_head,
                          args.head_dim),
                   args.head_dim, aligned);
      value_norm = sqrtf(dot_of_quad(value, value));
    }
    if (!exists || lane % 4 != 0) continue;
    const std::int64_t at = static_cast<std::int64_t>(head) * args.columns + sequence.column_start + key[r];
    const std::int64_t of_group =
        static_cast<std::int64_t>(key_head) * args.columns + sequence.column_start + key[r];
    const float per_query = taken > 0 ? 1.0f / taken : 0.0f;
    if (set.dot != nullptr) set.dot[at] = dot * per_query;
    if (set.cosine != nullptr) set.cosine[at] = norm > 0 ? cosine / norm * per_query : 0.0f;
    if (set.norm_product != nullptr) set.norm_product[at] = norms * norm * per_query;
    if (set.self_dot != nullptr) set.self_dot[at] = self;
    if (set.key_norm != nullptr && first_of_group) set.key_norm[of_group] = norm;
    if (set.value_norm != nullptr && first_of_group) set.value_norm[of_group] = value_norm;
  }
}

bool multiple_of_16_bytes(const void* pointer, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 && stride % 8 == 0;
}

}  // namespace

void qk_moments_cuda(AttentionPlan& plan, std::span<const CudaQkMoments> sets, const Stream& stream) {
  const PlanState& s = plan.state();
  BUOY_CHECK(s.limits.statistics && !sets.empty() && sets.size() <= kSets);
  MomentArgs args{};
  args.sequences = s.device_sequences;
  args.row_chunks = s.moment_chunks.tiles;
  args.chunk_rows = static_cast<int>(s.moment_rows);
  args.key_tiles = s.key_tiles_128.tiles;
  args.sums = s.query_sums.as<float>();
  args.norms = s.query_norms.as<float>();
  args.heads = static_cast<int>(s.shape.heads);
  args.heads_per_key_head = static_cast<int>(s.shape.heads / s.shape.kv_heads);
  args.head_dim = static_cast<int>(s.shape.head_dim);
  args.mask_block = s.mask_block;
  args.rows = static_cast<int>(s.rows);
  args.padded_rows = static_cast<int>(s.padded_rows);
  args.columns = static_cast<int>(s.columns);
  for (size_t i = 0; i < sets.size(); ++i) {
    const CudaAttentionInputs& in = sets[i].inputs;
    BUOY_CHECK(in.queries != nullptr && in.keys != nullptr && in.query_stride % 2 == 0 &&
               in.key_stride % 2 == 0);
    BUOY_CHECK(sets[i].value_norm == nullptr || (in.values != nullptr && in.value_stride % 2 == 0));
    args.sets[i] = sets[i];
    args.aligned[i] = s.shape.head_dim % 8 == 0 && multiple_of_16_bytes(in.queries, in.query_stride) &&
                      multiple_of_16_bytes(in.keys, in.key_stride) &&
                      multiple_of_16_bytes(in.values, in.value_stride);
  }
  const auto heads = static_cast<unsigned>(args.heads), count = static_cast<unsigned>(sets.size());
  if (s.moment_chunks.count > 0) {
    launch_kernel({.grid = dim3(s.moment_chunks.count, heads, count), .block = kSumThreads, .early = s.early},
                  stream, "sum_queries", sum_queries, args);
  }
  if (s.key_tiles_128.count > 0) {
    launch_kernel({.grid = dim3(s.key_tiles_128.count, heads, count),
                   .block = kColumnThreads,
                   .early = s.early && s.moment_chunks.count > 0},
                  stream, "key_columns",
                  s.mask_block == kWholeSequence ? key_columns<false> : key_columns<true>, args);
  }
}

}  // namespace buoy::ops

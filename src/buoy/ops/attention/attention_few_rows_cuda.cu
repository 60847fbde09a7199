// Attention of few rows, as where blocks or single tokens are decoded with a cache: there is nothing to do but
// to read keys and values, so all of them are read at once and each once. The rows of all heads that share
// keys stand below each other as the rows of one tile, the keys are divided between thread blocks, and within
// a block between warps. Each block leaves its part of the sums, and a second kernel joins them.

#include "buoy/ops/attention/attention_general_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 128, kWarps = 4, kTileKeys = 64, kPieceKeys = 16, kMostDim = 128;
static_assert(kWarps * 16 == kFewTileRows);

template <int kDim>
using Rows = SharedTile<64, kDim, kThreads>;

template <int kDim>
struct Storage {
  Rows<kDim> queries;
  union {
    struct {
      Rows<kDim> keys[2], values[2];
    };
    float sums[kWarps][16][kPartWidth];  // behind the last keys
  };
};

// A tile's rows: row * heads_per_key_head + head of those that share keys.
struct FewRow {
  int row, head;
};
__device__ inline FewRow few_row(const ForwardArgs& args, int number) {
  return {number / args.heads_per_key_head, number % args.heads_per_key_head};
}

// The part that the keys' division `split` leaves of a row of its tile.
__device__ inline float* part_of(const ForwardArgs& args, int tile, int key_heads, int key_head, int split,
                                 int number) {
  const std::int64_t before = (static_cast<std::int64_t>(tile) * key_heads + key_head) * args.splits + split;
  return args.parts + (before * args.few_tiles * kFewTileRows + number) * kPartWidth;
}

// Sums of one row over several sets of keys, as those of all of them.
template <bool kEntropy>
__device__ inline void join(RowSums& all, float& output, const RowSums& other, float other_output) {
  const float top = fmaxf(all.top, other.top), old_scale = exp2_approx(all.top - top),
              scale = exp2_approx(other.top - top);
  if (kEntropy) {
    all.weighted = old_scale * fmaf(all.sum, all.top - top, all.weighted) +
                   scale * fmaf(other.sum, other.top - top, other.weighted);
  }
  all.sum = all.sum * old_scale + other.sum * scale;
  output = output * old_scale + other_output * scale;
  all.top = top;
}

__device__ inline RowSums read_known(const float* part) {
  const float4 known = *reinterpret_cast<const float4*>(part + kMostDim);
  return {known.x, known.y, known.z};
}

// add_bias() where the two rows of a thread belong to different heads.
__device__ inline void add_biases(float (&s)[kPieceKeys / 2], const float* const (&bias)[2], int first,
                                  int keys, float scale) {
  const int column = first + threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < kPieceKeys / 2; ++i) {
    const int at = column + i / 4 * 8 + i % 2, r = i / 2 % 2;
    s[i] = fmaf(s[i], scale, at < keys ? fmaxf(bias[r][at] * kLog2E, kHiddenScore) : 0.0f);
  }
}

// One block: up to 64 rows of the heads of one key head over its part of the keys.
template <int kDim, bool kEntropy>
__global__ void __launch_bounds__(kThreads) forward_few(ForwardArgs args) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto& smem = *reinterpret_cast<Storage<kDim>*>(shared);
  launch_dependents();
  const int tile_number = blockIdx.x / args.few_tiles, first_number = blockIdx.x % args.few_tiles * kFewTileRows;
  const int key_head = blockIdx.y, first_head = key_head * args.heads_per_key_head;
  const Tile tile = args.tiles[tile_number];
  const DeviceSequence sequence = args.sequences[tile.sequence];
  const int count = min(kFewTileRows, sequence.query_rows * args.heads_per_key_head - first_number);
  wait_for_prior_grid();
  if (count <= 0) return;
  const int seen = visible_keys(sequence, sequence.query_rows - 1);
  const int part = ((seen + kTileKeys - 1) / kTileKeys + args.splits - 1) / args.splits * kTileKeys;
  const int key_begin = blockIdx.z * part, key_end = min(seen, key_begin + part);
  // Few tile rows leave warps over: these share the keys of a row.
  const int row_warps = count > 32 ? 4 : count > 16 ? 2 : 1, key_warps = kWarps / row_warps;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_row = warp % row_warps * 16;

  const auto load_keys = [&](int first, int stage) {
    const std::int64_t row = sequence.key_start + first,
                       column = static_cast<std::int64_t>(key_head) * args.head_dim;
    const int left = sequence.key_rows - first;
    smem.keys[stage].load(
        {args.keys + row * args.key_stride + column, args.key_stride, left, args.head_dim, args.aligned});
    smem.values[stage].load({args.values + row * args.value_stride + column, args.value_stride, left,
                             args.head_dim, args.aligned});
    commit_copies();
  };
  constexpr int kPieces = kDim / 8;
  for (int i = threadIdx.x; i < kFewTileRows * kPieces; i += kThreads) {
    const int number = i / kPieces, column = i % kPieces * 8;
    __nv_bfloat16* to = smem.queries.data + number * Rows<kDim>::kStride + column;
    uint4 eight{0, 0, 0, 0};
    if (number < count) {
      const FewRow at = few_row(args, first_number + number);
      eight = load_eight(args.queries +
                             (static_cast<std::int64_t>(sequence.query_start) + at.row) * args.query_stride +
                             static_cast<std::int64_t>(first_head + at.head) * args.head_dim,
                         column, args.head_dim, args.aligned);
    }
    *reinterpret_cast<uint4*>(to) = eight;
  }
  if (key_begin < key_end) load_keys(key_begin, 0);

  int end[2];
  const float* bias[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const FewRow at = few_row(args, min(first_number + warp_row + lane / 4 + 8 * r, first_number + count - 1));
    end[r] = visible_keys(sequence, at.row);
    bias[r] = args.key_bias == nullptr
                  ? nullptr
                  : args.key_bias + (first_head + at.head) * args.key_bias_stride + sequence.column_start;
  }
  const int least_end = visible_keys(sequence, 0);
  RunningSoftmax<kEntropy> softmax;
  float output[kDim / 2] = {};
  std::uint32_t query[kDim / 16][4];
  for (int first = key_begin; first < key_end; first += kTileKeys) {
    const int stage = (first - key_begin) / kTileKeys % 2;
    wait_for_copies();
    __syncthreads();
    if (first + kTileKeys < key_end) load_keys(first + kTileKeys, 1 - stage);
    if (first == key_begin) {
#pragma unroll
      for (int k = 0; k < kDim / 16; ++k) smem.queries.left(query[k], warp_row, 16 * k);
    }
    for (int piece = warp / row_warps; piece < kTileKeys / kPieceKeys; piece += key_warps) {
      const int key = first + piece * kPieceKeys;
      if (key >= key_end) break;
      float s[kPieceKeys / 2] = {};
#pragma unroll
      for (int k = 0; k < kDim / 16; ++k) {
        std::uint32_t right[4];
        smem.keys[stage].right_of_rows(right, piece * kPieceKeys, 16 * k);
        multiply_add(s, query[k], right[0], right[1]);
        multiply_add(s + 4, query[k], right[2], right[3]);
      }
      float scale = args.scale;
      if (args.key_bias != nullptr) {
        add_biases(s, bias, key, sequence.key_rows, scale);
        scale = 1.0f;
      }
      if (key + kPieceKeys > least_end) hide_columns(s, key, end);
      float rescale[2];
      if (softmax.take(s, scale, rescale)) {
#pragma unroll
        for (int i = 0; i < kDim / 2; ++i) output[i] *= rescale[i / 2 % 2];
      }
      const std::uint32_t weights[4] = {pack_bf16(s[0], s[1]), pack_bf16(s[2], s[3]), pack_bf16(s[4], s[5]),
                                        pack_bf16(s[6], s[7])};
#pragma unroll
      for (int n = 0; n < kDim / 16; ++n) {
        std::uint32_t right[4];
        smem.values[stage].right_of_columns(right, piece * kPieceKeys, 16 * n);
        multiply_add(output + 8 * n, weights, right[0], right[1]);
        multiply_add(output + 8 * n + 4, weights, right[2], right[3]);
      }
    }
  }
  // The warps' sums, in place of the keys.
  wait_for_copies();
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const RowSums known = softmax.row(r);
    float* to = smem.sums[warp][lane / 4 + 8 * r];
#pragma unroll
    for (int t = 0; t < kDim / 8; ++t) {
      *reinterpret_cast<float2*>(to + 8 * t + lane % 4 * 2) = {output[4 * t + 2 * r],
                                                               output[4 * t + 2 * r + 1]};
    }
    if (lane % 4 == 0) *reinterpret_cast<float4*>(to + kMostDim) = {known.top, known.sum, known.weighted, 0.0f};
  }
  __syncthreads();
  for (int number = 0; number < count; ++number) {
    RowSums all{kHiddenScore, 0, 0};
    float sum = 0;
    for (int w = 0; w < key_warps; ++w) {
      const float* from = smem.sums[w * row_warps + number / 16][number % 16];
      join<kEntropy>(all, sum, read_known(from), threadIdx.x < kDim ? from[threadIdx.x] : 0.0f);
    }
    float* to = part_of(args, tile_number, gridDim.y, key_head, blockIdx.z, first_number + number);
    to[threadIdx.x] = sum;
    if (threadIdx.x == 0) *reinterpret_cast<float4*>(to + kMostDim) = {all.top, all.sum, all.weighted, 0.0f};
  }
}

// One block: one row of one head, a thread per column.
template <bool kEntropy>
__global__ void __launch_bounds__(kMostDim) join_parts(ForwardArgs args) {
  launch_dependents();
  const Tile tile = args.tiles[blockIdx.x];
  const DeviceSequence sequence = args.sequences[tile.sequence];
  const int head = blockIdx.y, row = blockIdx.z, column = threadIdx.x;
  wait_for_prior_grid();
  if (row >= sequence.query_rows) return;
  const int key_head = head / args.heads_per_key_head, key_heads = gridDim.y / args.heads_per_key_head,
            number = row * args.heads_per_key_head + head % args.heads_per_key_head;
  const auto part = [&](int split) {
    return part_of(args, blockIdx.x, key_heads, key_head, split, number);
  };
  // First the largest score: then all parts can be read at once.
  RowSums all{kHiddenScore, 0, 0};
  for (int split = 0; split < args.splits; ++split) all.top = fmaxf(all.top, part(split)[kMostDim]);
  float output = 0;
#pragma unroll 4
  for (int split = 0; split < args.splits; ++split) {
    const float* from = part(split);
    const RowSums known = read_known(from);
    const float scale = exp2_approx(known.top - all.top);
    if (kEntropy) all.weighted += scale * fmaf(known.sum, known.top - all.top, known.weighted);
    all.sum += known.sum * scale;
    output += from[column] * scale;
  }
  const float factor = finish_row<kEntropy>(all, args, sequence, head, row, column == 0);
  if (column < args.head_dim) {
    args.output[(static_cast<std::int64_t>(sequence.query_start) + row) * args.output_stride +
                static_cast<std::int64_t>(head) * args.head_dim + column] = __float2bfloat16(output * factor);
  }
}

template <int kDim, bool kEntropy>
void launch(const ForwardArgs& args, const FewRowsShape& shape, const Stream& stream) {
  static_assert(sizeof(Storage<kDim>) <= kLeastSharedMemory);
  const auto size = [](int count) { return static_cast<unsigned>(count); };
  const bool early = gpu().major >= 9;
  launch_kernel({.grid = dim3(size(shape.tiles * args.few_tiles), size(shape.key_heads), size(args.splits)),
                 .block = kThreads,
                 .shared_bytes = sizeof(Storage<kDim>),
                 .early = early},
                stream, "forward_few", forward_few<kDim, kEntropy>, args);
  launch_kernel({.grid = dim3(size(shape.tiles), size(shape.key_heads * args.heads_per_key_head),
                              size(shape.longest_rows)),
                 .block = kMostDim,
                 .early = early},
                stream, "join_parts", join_parts<kEntropy>, args);
}

}  // namespace

void launch_forward_few(const ForwardArgs& args, const FewRowsShape& shape, const Stream& stream) {
  with_dim(args.head_dim, [&](auto dim) {
    if (args.entropy != nullptr) {
      launch<decltype(dim)::value, true>(args, shape, stream);
    } else {
      launch<decltype(dim)::value, false>(args, shape, stream);
    }
  });
}

}  // namespace buoy::ops

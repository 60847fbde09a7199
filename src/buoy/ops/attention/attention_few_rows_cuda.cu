// Attention of few rows, as where blocks or single tokens are decoded with a cache: there is nothing to do
// but to read keys and values, so all of them are read at once and each once. The rows of all heads that
// share keys stand below each other as the rows of one tile, the keys are divided between thread blocks, and
// within a block between warps. Each block leaves the sums of its part, and a second kernel joins them.

#include "buoy/ops/attention/attention_general_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 256, kWarps = 8, kTileKeys = 64, kPieceKeys = 16, kStages = 2, kMostDim = 128;
constexpr int kPieces = kTileKeys / kPieceKeys, kRowWarps = kFewTileRows / 16;

template <int kDim>
using Rows = SharedTile<64, kDim, kThreads>;

template <int kDim>
struct Storage {
  static constexpr int kSums = kDim / 2 + 6;  // of a thread
  Rows<kDim> queries;
  union {
    struct {
      Rows<kDim> keys[kStages], values[kStages];
    };
    float sums[kWarps - 1][kSums][32];  // behind the last keys
  };
};

// A tile's rows: row * heads_per_key_head + head of those that share keys.
struct FewRow {
  int row, head;
};
__device__ inline FewRow few_row(const ForwardArgs& args, int number) {
  return {number / args.heads_per_key_head, number % args.heads_per_key_head};
}

// How the keys of a sequence are divided: `size` to a part, whole tiles, and only as many parts as have keys.
struct Division {
  int seen, size, parts;
};
__device__ inline Division division_of(const ForwardArgs& args, const DeviceSequence& sequence) {
  const int seen = visible_keys(sequence, sequence.query_rows - 1);
  const int tiles = (seen + kTileKeys - 1) / kTileKeys;
  const int size = (tiles + args.splits - 1) / args.splits * kTileKeys;
  return {seen, size, size > 0 ? (seen + size - 1) / size : 0};
}

// What one part of the keys leaves of row `number` of a tile.
__device__ inline float* part_of(const ForwardArgs& args, int tile, int key_heads, int key_head, int part,
                                 int number) {
  const std::int64_t before = (static_cast<std::int64_t>(tile) * key_heads + key_head) * args.splits + part;
  return args.parts + (before * args.few_tiles * kFewTileRows + number) * kPartWidth;
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

__device__ inline void wait_for_copies_but_the_last() {
  asm volatile("cp.async.wait_group 1;\n" ::: "memory");
}

// Adds what another warp has of the same rows, thread by thread.
template <int kDim, bool kEntropy>
__device__ inline void join(RunningSoftmax<kEntropy>& softmax, float (&output)[kDim / 2],
                            const float (*other)[32]) {
  const int lane = threadIdx.x % 32;
  float own_scale[2], scale[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float other_top = other[kDim / 2 + r][lane], other_sum = other[kDim / 2 + 2 + r][lane];
    const float top = fmaxf(softmax.top[r], other_top);
    own_scale[r] = exp2_approx(softmax.top[r] - top);
    scale[r] = exp2_approx(other_top - top);
    if (kEntropy) {
      softmax.weighted[r] = own_scale[r] * fmaf(softmax.sum[r], softmax.top[r] - top, softmax.weighted[r]) +
                            scale[r] * fmaf(other_sum, other_top - top, other[kDim / 2 + 4 + r][lane]);
    }
    softmax.sum[r] = softmax.sum[r] * own_scale[r] + other_sum * scale[r];
    softmax.top[r] = top;
  }
#pragma unroll
  for (int i = 0; i < kDim / 2; ++i)
    output[i] = output[i] * own_scale[i / 2 % 2] + other[i][lane] * scale[i / 2 % 2];
}

// One block: up to 64 rows of the heads of one key head over one part of the keys.
template <int kDim, bool kEntropy>
__global__ void __launch_bounds__(kThreads, 2) forward_few(ForwardArgs args) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto& smem = *reinterpret_cast<Storage<kDim>*>(shared);
  launch_dependents();
  const int tile_number = blockIdx.x / args.few_tiles,
            first_number = blockIdx.x % args.few_tiles * kFewTileRows;
  const int key_head = blockIdx.y, first_head = key_head * args.heads_per_key_head;
  const DeviceSequence sequence = args.sequences[args.tiles[tile_number].sequence];
  const int count = min(kFewTileRows, sequence.query_rows * args.heads_per_key_head - first_number);
  const Division division = division_of(args, sequence);
  const int key_begin = blockIdx.z * division.size, key_end = min(division.seen, key_begin + division.size);
  if (count <= 0 || key_begin >= key_end) return;

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
  const auto load_first_keys = [&] {
    load_keys(key_begin, 0);
    if (key_begin + kTileKeys < key_end) load_keys(key_begin + kTileKeys, 1);
  };
  // Keys of earlier forwards are there already; those of this one the kernel in front may still be writing.
  const bool all_there = key_begin + kStages * kTileKeys <= sequence.first_position;
  if (all_there) load_first_keys();
  wait_for_prior_grid();
  if (!all_there) load_first_keys();
  constexpr int kColumnPieces = kDim / 8;
  for (int i = threadIdx.x; i < kFewTileRows * kColumnPieces; i += kThreads) {
    const int number = i / kColumnPieces, column = i % kColumnPieces * 8;
    uint4 eight{0, 0, 0, 0};
    if (number < count) {
      const FewRow at = few_row(args, first_number + number);
      eight = load_eight(args.queries +
                             (static_cast<std::int64_t>(sequence.query_start) + at.row) * args.query_stride +
                             static_cast<std::int64_t>(first_head + at.head) * args.head_dim,
                         column, args.head_dim, args.aligned);
    }
    *reinterpret_cast<uint4*>(smem.queries.data + number * Rows<kDim>::kStride + column) = eight;
  }

  // Warps that share rows divide the keys of a tile between them.
  const int row_warps = count > 32   ? kRowWarps
                        : count > 16 ? 2
                                     : 1,
            key_warps = min(kWarps / row_warps, kPieces);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_row = warp % row_warps * 16,
            key_warp = warp / row_warps;
  int end[2];
  const float* bias[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const FewRow at =
        few_row(args, min(first_number + warp_row + lane / 4 + 8 * r, first_number + count - 1));
    end[r] = visible_keys(sequence, at.row);
    bias[r] = args.key_bias == nullptr
                  ? nullptr
                  : args.key_bias + (first_head + at.head) * args.key_bias_stride + sequence.column_start;
  }
  const int least_end = visible_keys(sequence, 0);
  RunningSoftmax<kEntropy> softmax;
  float output[kDim / 2] = {};
  std::uint32_t query[kDim / 16][4];
  int stage = 0;
  for (int first = key_begin; first < key_end; first += kTileKeys) {
    if (first + kTileKeys < key_end) {
      wait_for_copies_but_the_last();
    } else {
      wait_for_copies();
    }
    __syncthreads();
    if (first == key_begin) {
#pragma unroll
      for (int k = 0; k < kDim / 16; ++k) smem.queries.left(query[k], warp_row, 16 * k);
    }
    for (int piece = key_warp; piece < kPieces; piece += key_warps) {
      const int key = first + piece * kPieceKeys;
      if (key_warp >= key_warps || key >= key_end) break;
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
    __syncthreads();
    if (first + kStages * kTileKeys < key_end) load_keys(first + kStages * kTileKeys, stage);
    stage = 1 - stage;
  }
  // Warps with the same rows join their sums, in place of the keys.
  if (key_warp > 0 && key_warp < key_warps) {
    float(*to)[32] = smem.sums[warp - row_warps];
#pragma unroll
    for (int i = 0; i < kDim / 2; ++i) to[i][lane] = output[i];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      to[kDim / 2 + r][lane] = softmax.top[r];
      to[kDim / 2 + 2 + r][lane] = softmax.sum[r];
      to[kDim / 2 + 4 + r][lane] = softmax.weighted[r];
    }
  }
  __syncthreads();
  if (key_warp > 0) return;
  for (int n = 1; n < key_warps; ++n)
    join<kDim, kEntropy>(softmax, output, smem.sums[warp + (n - 1) * row_warps]);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const RowSums known = softmax.row(r);
    const int number = warp_row + lane / 4 + 8 * r;
    if (number >= count) continue;
    float* to = part_of(args, tile_number, gridDim.y, key_head, blockIdx.z, first_number + number);
#pragma unroll
    for (int t = 0; t < kDim / 8; ++t) {
      *reinterpret_cast<float2*>(to + 8 * t + lane % 4 * 2) = {output[4 * t + 2 * r],
                                                               output[4 * t + 2 * r + 1]};
    }
    if (lane % 4 == 0)
      *reinterpret_cast<float4*>(to + kMostDim) = {known.top, known.sum, known.weighted, 0.0f};
  }
}

constexpr int kJoinWarps = 4;
static_assert(kMostSplits <= 32);

__device__ inline float warp_largest(float x) {
#pragma unroll
  for (int other = 16; other > 0; other /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, other));
  return x;
}

// One warp: one row of one head. A lane knows the scores of one part, and has four columns.
template <bool kEntropy>
__global__ void __launch_bounds__(32 * kJoinWarps) join_parts(ForwardArgs args) {
  launch_dependents();
  const DeviceSequence sequence = args.sequences[args.tiles[blockIdx.x].sequence];
  const int head = blockIdx.y, row = blockIdx.z * kJoinWarps + threadIdx.x / 32, lane = threadIdx.x % 32,
            column = 4 * lane;
  const int key_head = head / args.heads_per_key_head, key_heads = gridDim.y / args.heads_per_key_head,
            number = row * args.heads_per_key_head + head % args.heads_per_key_head;
  const int parts = division_of(args, sequence).parts;
  wait_for_prior_grid();
  if (row >= sequence.query_rows) return;
  const float* first = part_of(args, blockIdx.x, key_heads, key_head, 0, number);
  const std::int64_t step = static_cast<std::int64_t>(args.few_tiles) * kFewTileRows * kPartWidth;
  // All that is read is asked for at once, as far as registers go.
  constexpr int kAtOnce = 16;
  float4 some[kAtOnce];
  const auto load_some = [&](int begin) {
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const bool exists = begin + i < parts && column < args.head_dim;
      some[i] = exists ? *reinterpret_cast<const float4*>(first + (begin + i) * step + column) : float4{};
    }
  };
  float4 known{kHiddenScore, 0, 0, 0};
  if (lane < parts) known = *reinterpret_cast<const float4*>(first + lane * step + kMostDim);
  load_some(0);
  RowSums all{warp_largest(known.x), 0, 0};
  const float scale = exp2_approx(known.x - all.top);
  all.sum = warp_sum(known.y * scale);
  if (kEntropy) all.weighted = warp_sum(scale * fmaf(known.y, known.x - all.top, known.z));
  float4 output{0, 0, 0, 0};
  for (int begin = 0; begin < parts; begin += kAtOnce) {
    if (begin > 0) load_some(begin);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const float own = __shfl_sync(~0u, scale, (begin + i) % 32);
      output.x = fmaf(some[i].x, own, output.x), output.y = fmaf(some[i].y, own, output.y);
      output.z = fmaf(some[i].z, own, output.z), output.w = fmaf(some[i].w, own, output.w);
    }
  }
  const float factor = finish_row<kEntropy>(all, args, sequence, head, row, lane == 0);
  Bf16* to = args.output + (static_cast<std::int64_t>(sequence.query_start) + row) * args.output_stride +
             static_cast<std::int64_t>(head) * args.head_dim + column;
  // An even number of columns, not always a multiple of four.
  if (column < args.head_dim)
    *reinterpret_cast<std::uint32_t*>(to) = pack_bf16(output.x * factor, output.y * factor);
  if (column + 2 < args.head_dim)
    *reinterpret_cast<std::uint32_t*>(to + 2) = pack_bf16(output.z * factor, output.w * factor);
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
                              size((shape.longest_rows + kJoinWarps - 1) / kJoinWarps)),
                 .block = 32 * kJoinWarps,
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

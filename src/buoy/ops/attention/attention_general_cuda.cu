#include "buoy/ops/attention/attention_general_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 128, kTileRows = 64, kTileKeys = 64, kMostDim = 128;

template <int kDim>
using Rows = SharedTile<64, kDim, kThreads>;

template <int kDim>
struct ForwardSharedStorage {
  Rows<kDim> queries, keys[2], values[2];
};

__device__ float* part_of(const ForwardArgs& args, int tile, int head, int split, int row) {
  return args.parts +
         (((static_cast<std::int64_t>(tile) * gridDim.y + head) * args.splits + split) * kFewRows + row) *
             kPartWidth;
}

// Row `row` of the tile, of whose sums a thread holds part `r`: the sums of weighted values, then what is known of its scores.
template <int kDim>
__device__ void write_part(const float (&output)[kDim / 2], const RowSums& known, int row, int r,
                           const ForwardArgs& args, int head) {
  const int lane = threadIdx.x % 32;
  float* to = part_of(args, blockIdx.x, head, blockIdx.z, row);
#pragma unroll
  for (int t = 0; t < kDim / 8; ++t) {
    *reinterpret_cast<float2*>(to + 8 * t + lane % 4 * 2) = {output[4 * t + 2 * r],
                                                             output[4 * t + 2 * r + 1]};
  }
  if (lane % 4 == 0) *reinterpret_cast<float4*>(to + kMostDim) = {known.top, known.sum, known.weighted, 0.0f};
}

// One block: one row of one head, a thread per column.
template <bool kEntropy>
__global__ void __launch_bounds__(kMostDim) join_parts(ForwardArgs args) {
  const Tile tile = args.tiles[blockIdx.x];
  const DeviceSequence sequence = args.sequences[tile.sequence];
  const int head = blockIdx.y, row = blockIdx.z, column = threadIdx.x;
  if (row >= sequence.query_rows) return;
  RowSums all{kHiddenScore, 0, 0};
  float output = 0;
  for (int split = 0; split < args.splits; ++split) {
    const float* part = part_of(args, blockIdx.x, head, split, row);
    const float4 known = *reinterpret_cast<const float4*>(part + kMostDim);
    const float top = fmaxf(all.top, known.x), old_scale = exp2_approx(all.top - top),
                scale = exp2_approx(known.x - top);
    if (kEntropy) {
      all.weighted = old_scale * fmaf(all.sum, all.top - top, all.weighted) +
                     scale * fmaf(known.y, known.x - top, known.z);
    }
    all.sum = all.sum * old_scale + known.y * scale;
    if (column < args.head_dim) output = output * old_scale + part[column] * scale;
    all.top = top;
  }
  const float factor = finish_row<kEntropy>(all, args, sequence, head, row, column == 0);
  if (column < args.head_dim) {
    args.output[(static_cast<std::int64_t>(sequence.query_start) + row) * args.output_stride +
                static_cast<std::int64_t>(head) * args.head_dim + column] = __float2bfloat16(output * factor);
  }
}

// One block: 64 queries of one head, 16 to a warp, over all keys they see, 64 at a time; or, when there are
// few queries, over its part of these keys.
template <int kDim, bool kEntropy>
__global__ void __launch_bounds__(kThreads) forward_general(ForwardArgs args) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto& smem = *reinterpret_cast<ForwardSharedStorage<kDim>*>(shared);
  const Tile tile = args.tiles[blockIdx.x];
  const DeviceSequence sequence = args.sequences[tile.sequence];
  const int head = blockIdx.y, key_head = head / args.heads_per_key_head;
  const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * 16;
  const int last_row = min(tile.first + kTileRows, sequence.query_rows) - 1;
  const int seen = visible_keys(sequence, last_row);
  const int part = ((seen + kTileKeys - 1) / kTileKeys + args.splits - 1) / args.splits * kTileKeys;
  const int key_begin = blockIdx.z * part, key_end = min(seen, key_begin + part);
  const int first_row_end = visible_keys(sequence, tile.first);
  const float* bias = args.key_bias == nullptr
                          ? nullptr
                          : args.key_bias + head * args.key_bias_stride + sequence.column_start;

  const auto load_keys = [&](int first, int stage) {
    const std::int64_t row = sequence.key_start + first,
                       column = static_cast<std::int64_t>(key_head) * args.head_dim;
    const int count = sequence.key_rows - first;
    smem.keys[stage].load(
        {args.keys + row * args.key_stride + column, args.key_stride, count, args.head_dim, args.aligned});
    smem.values[stage].load({args.values + row * args.value_stride + column, args.value_stride, count,
                             args.head_dim, args.aligned});
    commit_copies();
  };
  smem.queries.load({args.queries +
                         (static_cast<std::int64_t>(sequence.query_start) + tile.first) * args.query_stride +
                         static_cast<std::int64_t>(head) * args.head_dim,
                     args.query_stride, sequence.query_rows - tile.first, args.head_dim, args.aligned});
  if (key_begin < key_end) load_keys(key_begin, 0);

  int end[2], row[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    row[r] = tile.first + warp_row + lane / 4 + 8 * r;
    end[r] = visible_keys(sequence, row[r]);
  }
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
    float s[kTileKeys / 2] = {};
#pragma unroll
    for (int k = 0; k < kDim / 16; ++k) {
#pragma unroll
      for (int n = 0; n < kTileKeys / 16; ++n) {
        std::uint32_t right[4];
        smem.keys[stage].right_of_rows(right, 16 * n, 16 * k);
        multiply_add(s + 8 * n, query[k], right[0], right[1]);
        multiply_add(s + 8 * n + 4, query[k], right[2], right[3]);
      }
    }
    float scale = args.scale;
    if (bias != nullptr) {
      add_bias(s, bias + first, sequence.key_rows - first, scale);
      scale = 1.0f;
    }
    if (first + kTileKeys > first_row_end) hide_columns(s, first, end);
    float rescale[2];
    softmax.take(s, scale, rescale);
#pragma unroll
    for (int i = 0; i < kDim / 2; ++i) output[i] *= rescale[i / 2 % 2];
#pragma unroll
    for (int k = 0; k < kTileKeys / 16; ++k) {
      const std::uint32_t weights[4] = {
          pack_bf16(s[8 * k], s[8 * k + 1]), pack_bf16(s[8 * k + 2], s[8 * k + 3]),
          pack_bf16(s[8 * k + 4], s[8 * k + 5]), pack_bf16(s[8 * k + 6], s[8 * k + 7])};
#pragma unroll
      for (int n = 0; n < kDim / 16; ++n) {
        std::uint32_t right[4];
        smem.values[stage].right_of_columns(right, 16 * k, 16 * n);
        multiply_add(output + 8 * n, weights, right[0], right[1]);
        multiply_add(output + 8 * n + 4, weights, right[2], right[3]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const RowSums known = softmax.row(r);
    if (args.splits > 1) {
      // A tile of few rows is the only one of its sequence.
      if (row[r] < sequence.query_rows) write_part<kDim>(output, known, row[r], r, args, head);
      continue;
    }
    const float factor = finish_row<kEntropy>(known, args, sequence, head, row[r], lane % 4 == 0);
    if (row[r] >= sequence.query_rows) continue;
    Bf16* to = args.output + (static_cast<std::int64_t>(sequence.query_start) + row[r]) * args.output_stride +
               static_cast<std::int64_t>(head) * args.head_dim;
#pragma unroll
    for (int t = 0; t < kDim / 8; ++t) {
      const int column = 8 * t + lane % 4 * 2;
      if (column >= args.head_dim) continue;
      // A row that sees nothing has a factor of 0.
      *reinterpret_cast<std::uint32_t*>(to + column) =
          pack_bf16(output[4 * t + 2 * r] * factor, output[4 * t + 2 * r + 1] * factor);
    }
  }
}

template <int kDim, bool kEntropy>
void launch_forward(const ForwardArgs& args, int tiles, int heads, const Stream& stream) {
  constexpr int kBytes = sizeof(ForwardSharedStorage<kDim>);
  static_assert(kBytes <= kLeastSharedMemory);
  auto* kernel = forward_general<kDim, kEntropy>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
             "reserve shared memory for attention");
  kernel<<<dim3(tiles, heads, args.splits), kThreads, kBytes, raw(stream)>>>(args);
  check_launch("forward_general");
  if (args.splits == 1) return;
  join_parts<kEntropy><<<dim3(tiles, heads, kFewRows), kMostDim, 0, raw(stream)>>>(args);
  check_launch("join_parts");
}

}  // namespace

void launch_forward_general(const ForwardArgs& args, int tiles, int heads, const Stream& stream) {
  with_dim(args.head_dim, [&](auto dim) {
    if (args.entropy != nullptr) {
      launch_forward<decltype(dim)::value, true>(args, tiles, heads, stream);
    } else {
      launch_forward<decltype(dim)::value, false>(args, tiles, heads, stream);
    }
  });
}

}  // namespace buoy::ops

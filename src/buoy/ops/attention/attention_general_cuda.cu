#include "buoy/ops/attention/attention_general_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 128, kTileRows = 64, kTileKeys = 64;

template <int kDim>
using Rows = SharedTile<64, kDim, kThreads>;

template <int kDim>
struct ForwardSharedStorage {
  Rows<kDim> queries, keys[2], values[2];
};

// One block: 64 queries of one head, 16 to a warp, over all keys they see, 64 at a time.
template <int kDim, bool kEntropy>
__global__ void __launch_bounds__(kThreads) forward_general(ForwardArgs args) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto& smem = *reinterpret_cast<ForwardSharedStorage<kDim>*>(shared);
  const Tile tile = args.tiles[blockIdx.x];
  const DeviceSequence sequence = args.sequences[tile.sequence];
  const int head = blockIdx.y, key_head = head / args.heads_per_key_head;
  const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * 16;
  const int last_row = min(tile.first + kTileRows, sequence.query_rows) - 1;
  const int key_end = visible_keys(sequence, last_row);
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
  if (key_end > 0) load_keys(0, 0);

  int end[2], row[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    row[r] = tile.first + warp_row + lane / 4 + 8 * r;
    end[r] = visible_keys(sequence, row[r]);
  }
  RunningSoftmax<kEntropy> softmax;
  float output[kDim / 2] = {};
  std::uint32_t query[kDim / 16][4];
  for (int first = 0; first < key_end; first += kTileKeys) {
    const int stage = first / kTileKeys % 2;
    wait_for_copies();
    __syncthreads();
    if (first + kTileKeys < key_end) load_keys(first + kTileKeys, 1 - stage);
    if (first == 0) {
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
  kernel<<<dim3(tiles, heads), kThreads, kBytes, raw(stream)>>>(args);
  check_launch("forward_general");
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

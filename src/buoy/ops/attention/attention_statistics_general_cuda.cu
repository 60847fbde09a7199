#include "buoy/ops/attention/attention_general_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 128;

template <int kDim>
using Rows = SharedTile<64, kDim, kThreads>;

template <int kDim>
struct StatisticsSharedStorage {
  Rows<kDim> keys, queries[2];
  float shift[2][64];
  std::uint8_t group[2][64];
};

// One block: 64 keys of one head, 16 to a warp, over all queries that see them, 64 at a time. The weights,
// keys by queries, stay in registers as the left operand of a product with the one-hot matrix [queries,
// groups].
template <int kDim>
__global__ void __launch_bounds__(kThreads) statistics_general(StatisticsArgs args) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto& smem = *reinterpret_cast<StatisticsSharedStorage<kDim>*>(shared);
  const Tile tile = args.tiles[blockIdx.x];
  const DeviceSequence sequence = args.sequences[tile.sequence];
  const int head = blockIdx.y, key_head = head / args.heads_per_key_head;
  const int lane = threadIdx.x % 32, warp_key = threadIdx.x / 32 * 16;
  const int last_key = min(tile.first + 64, sequence.key_rows) - 1;
  const int first_row = first_seeing_row(sequence, tile.first) / 64 * 64;
  const int all_seen_from = first_seeing_row(sequence, last_key);

  const auto load_queries = [&](int first, int stage) {
    smem.queries[stage].load(
        {args.queries + (static_cast<std::int64_t>(sequence.query_start) + first) * args.query_stride +
             static_cast<std::int64_t>(head) * args.head_dim,
         args.query_stride, sequence.query_rows - first, args.head_dim, args.aligned});
    if (threadIdx.x < 64) {
      const int row = first + threadIdx.x;
      const bool exists = row < sequence.query_rows;
      const std::int64_t at = sequence.padded_start + row;
      smem.shift[stage][threadIdx.x] =
          exists ? args.row_shift[static_cast<std::int64_t>(head) * args.padded_rows + at] : INFINITY;
      smem.group[stage][threadIdx.x] = exists ? args.row_groups[at] : 255;
    }
    commit_copies();
  };
  smem.keys.load({args.keys + (static_cast<std::int64_t>(sequence.key_start) + tile.first) * args.key_stride +
                      static_cast<std::int64_t>(key_head) * args.head_dim,
                  args.key_stride, sequence.key_rows - tile.first, args.head_dim, args.aligned});
  if (first_row < sequence.query_rows) load_queries(first_row, 0);

  int key[2], seen_from[2];
  float bias[2] = {0, 0};
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    key[r] = tile.first + warp_key + lane / 4 + 8 * r;
    seen_from[r] = first_seeing_row(sequence, key[r]);
    if (args.key_bias != nullptr && key[r] < sequence.key_rows)
      bias[r] = args.key_bias[head * args.key_bias_stride + sequence.column_start + key[r]] * kLog2E;
  }
  float received[8] = {};
  std::uint32_t left[kDim / 16][4];
  for (int first = first_row; first < sequence.query_rows; first += 64) {
    const int stage = (first - first_row) / 64 % 2;
    wait_for_copies();
    __syncthreads();
    if (first + 64 < sequence.query_rows) load_queries(first + 64, 1 - stage);
    if (first == first_row) {
#pragma unroll
      for (int k = 0; k < kDim / 16; ++k) smem.keys.left(left[k], warp_key, 16 * k);
    }
    float s[32] = {};
#pragma unroll
    for (int k = 0; k < kDim / 16; ++k) {
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        std::uint32_t right[4];
        smem.queries[stage].right_of_rows(right, 16 * n, 16 * k);
        multiply_add(s + 8 * n, left[k], right[0], right[1]);
        multiply_add(s + 8 * n + 4, left[k], right[2], right[3]);
      }
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const int column = i / 4 * 8 + lane % 4 * 2 + i % 2, r = i / 2 % 2;
      s[i] = exp2_approx(fmaf(s[i], args.scale, bias[r] - smem.shift[stage][column]));
      if (first < all_seen_from && first + column < seen_from[r]) s[i] = 0.0f;
    }
    if (args.first_share != nullptr && tile.first + warp_key == 0 && lane < 4) {
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        const int row = first + i / 4 * 8 + lane * 2 + i % 2;
        if (i / 2 % 2 == 0 && row < sequence.query_rows)
          args.first_share[static_cast<std::int64_t>(head) * args.rows + sequence.query_start + row] = s[i];
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t weights[4] = {
          pack_bf16(s[8 * k], s[8 * k + 1]), pack_bf16(s[8 * k + 2], s[8 * k + 3]),
          pack_bf16(s[8 * k + 4], s[8 * k + 5]), pack_bf16(s[8 * k + 6], s[8 * k + 7])};
      const std::uint8_t* groups = smem.group[stage] + 16 * k + lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const int group = 8 * n + lane / 4;
        multiply_add(received + 4 * n, weights, one_hot_pair(groups, group), one_hot_pair(groups + 8, group));
      }
    }
  }
  if (args.received == nullptr) return;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int group = i / 4 * 8 + lane % 4 * 2 + i % 2, r = i / 2 % 2;
    if (group < args.groups && key[r] < sequence.key_rows)
      args.received[(static_cast<std::int64_t>(group) * args.heads + head) * args.columns +
                    sequence.column_start + key[r]] = received[i];
  }
}

template <int kDim>
void launch_statistics(const StatisticsArgs& args, int tiles, int heads, const Stream& stream) {
  constexpr int kBytes = sizeof(StatisticsSharedStorage<kDim>);
  static_assert(kBytes <= kLeastSharedMemory);
  auto* kernel = statistics_general<kDim>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
             "reserve shared memory for attention statistics");
  kernel<<<dim3(tiles, heads), kThreads, kBytes, raw(stream)>>>(args);
  check_launch("statistics_general");
}

}  // namespace

void launch_statistics_general(const StatisticsArgs& args, int tiles, int heads, const Stream& stream) {
  with_dim(args.head_dim,
           [&](auto dim) { launch_statistics<decltype(dim)::value>(args, tiles, heads, stream); });
}

}  // namespace buoy::ops

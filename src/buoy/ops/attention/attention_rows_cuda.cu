// Rows looked at closely: all their weights, and the strongest of these.

#include "buoy/ops/attention/attention_softmax_cuda.cuh"
#include "buoy/ops/attention/attention_statistics_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kCloseThreads = 128, kKeysOfWarp = 16, kKeysOfBlock = kCloseThreads / 32 * kKeysOfWarp;

// The rows of a tile with what is known of each, once per block. Rows are 320 bytes apart, so that the four
// lanes of two quads read different banks.
struct CloseSharedStorage {
  static constexpr int kStride = 160;
  Bf16 queries[kCloseRowsOfTile * kStride];
  float shift[kCloseRowsOfTile];
  int end[kCloseRowsOfTile];
};

__device__ void load_rows(CloseSharedStorage& smem, const StatisticsArgs& a, const CloseTile& tile,
                          const DeviceSequence& sequence, int head) {
  constexpr int kPieces = 16;
  for (int i = threadIdx.x; i < tile.count * kPieces; i += kCloseThreads) {
    const Bf16* row =
        a.queries +
        (static_cast<std::int64_t>(sequence.query_start) + tile.rows[i / kPieces]) * a.query_stride +
        static_cast<std::int64_t>(head) * a.head_dim;
    *reinterpret_cast<uint4*>(smem.queries + i / kPieces * CloseSharedStorage::kStride + i % kPieces * 8) =
        load_eight(row, i % kPieces * 8, a.head_dim, a.aligned);
  }
  if (threadIdx.x < tile.count) {
    const int row = tile.rows[threadIdx.x];
    smem.shift[threadIdx.x] =
        a.row_shift[static_cast<std::int64_t>(head) * a.padded_rows + sequence.padded_start + row];
    smem.end[threadIdx.x] = visible_keys(sequence, row);
  }
}

// One warp: 16 keys, whose fragments stay in registers, by up to 32 rows, eight at a time.
__global__ void __launch_bounds__(kCloseThreads) close_rows(CloseRowsArgs args) {
  __shared__ __align__(16) CloseSharedStorage smem;
  const StatisticsArgs& a = args.common;
  const CloseTile& tile = args.tiles[blockIdx.z];
  const DeviceSequence sequence = a.sequences[tile.sequence];
  const int head = blockIdx.y, lane = threadIdx.x % 32, rows = tile.count;
  const int first_key = blockIdx.x * kKeysOfBlock + threadIdx.x / 32 * kKeysOfWarp;
  const Bf16* keys = a.keys + static_cast<std::int64_t>(sequence.key_start) * a.key_stride +
                     static_cast<std::int64_t>(head / a.heads_per_key_head) * a.head_dim;
  launch_dependents();
  wait_for_prior_grid();
  QuadRow key_row[2] = {};
  float bias[2] = {0, 0};
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int key = first_key + lane / 4 + 8 * r;
    if (key >= sequence.key_rows) continue;
    key_row[r].load(keys + key * a.key_stride, a.head_dim, a.aligned);
    if (a.key_bias != nullptr)
      bias[r] = a.key_bias[head * a.key_bias_stride + sequence.column_start + key] * kLog2E;
  }
  load_rows(smem, a, tile, sequence, head);
  __syncthreads();
  float* to =
      a.row_weights + (static_cast<std::int64_t>(tile.first_result) * a.heads + head) * a.row_weight_stride;
  for (int first = 0; first < rows; first += 8) {
    QuadRow query;
#pragma unroll
    for (int i = 0; i < QuadRow::kPieces; ++i) {
      query.piece[i] = *reinterpret_cast<const uint4*>(
          smem.queries + min(first + lane / 4, rows - 1) * CloseSharedStorage::kStride + 32 * i +
          lane % 4 * 8);
    }
    float s[4] = {};
    multiply_add_rows(s, key_row[0], key_row[1], query);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int n = first + lane % 4 * 2 + i % 2, r = i / 2, key = first_key + lane / 4 + 8 * r;
      if (n >= rows || key >= a.row_weight_stride) continue;
      to[n * a.heads * a.row_weight_stride + key] =
          key < smem.end[n] ? exp2_approx(fmaf(s[i], a.scale, bias[r] - smem.shift[n])) : 0.0f;
    }
  }
}

constexpr int kTopThreads = 256, kMostTop = 64;

struct TopSharedStorage {
  int histogram[256];
  std::uint32_t prefix;
  int wanted, stronger, tied;
  int warp_ties[kTopThreads / 32];
  float weight[kMostTop];
  std::int32_t key[kMostTop];
};

// One block per row of weights. Weights are not negative, so their bits are in their order: four rounds over
// bytes find the weakest weight of the top; then all stronger ones are taken, and of the tied ones the first.
__global__ void __launch_bounds__(kTopThreads) top_keys(TopKeysArgs args) {
  __shared__ TopSharedStorage smem;
  const float* weights = args.row_weights + blockIdx.x * args.stride;
  const int count = static_cast<int>(args.stride), top = args.top, thread = threadIdx.x;
  if (thread == 0) {
    smem.prefix = 0;
    smem.wanted = top;
    smem.stronger = 0;
    smem.tied = 0;
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    smem.histogram[thread] = 0;
    __syncthreads();
    const std::uint32_t prefix = smem.prefix;
    for (int i = thread; i < count; i += kTopThreads) {
      const std::uint32_t bits = __float_as_uint(weights[i]);
      if (shift == 24 || bits >> (shift + 8) == prefix) atomicAdd(&smem.histogram[bits >> shift & 255], 1);
    }
    __syncthreads();
    if (thread == 0) {
      int left = smem.wanted, byte = 255;
      while (byte > 0 && smem.histogram[byte] < left) left -= smem.histogram[byte--];
      smem.wanted = left;
      smem.prefix = prefix << 8 | static_cast<std::uint32_t>(byte);
    }
    __syncthreads();
  }
  const std::uint32_t weakest = smem.prefix;
  const int ties = smem.wanted;  // of the weakest weight to take
  for (int first = 0; first < count; first += kTopThreads) {
    const int i = first + thread;
    const float weight = i < count ? weights[i] : 0.0f;
    const std::uint32_t bits = __float_as_uint(weight);
    // A weight of zero is no key at all.
    const bool stronger = i < count && bits > weakest, tied = i < count && bits == weakest && bits != 0;
    if (stronger) {
      const int at = atomicAdd(&smem.stronger, 1);
      smem.weight[at] = weight;
      smem.key[at] = i;
    }
    const unsigned ballot = __ballot_sync(~0u, tied);
    if (thread % 32 == 0) smem.warp_ties[thread / 32] = __popc(ballot);
    __syncthreads();
    int at = smem.tied + __popc(ballot & ((1u << thread % 32) - 1));
    for (int warp = 0; warp < thread / 32; ++warp) at += smem.warp_ties[warp];
    if (tied && at < ties) {
      smem.weight[top - ties + at] = weight;
      smem.key[top - ties + at] = i;
    }
    __syncthreads();
    if (thread == 0) {
      for (int warp = 0; warp < kTopThreads / 32; ++warp) smem.tied += smem.warp_ties[warp];
    }
    __syncthreads();
  }
  // Fewer than `top` weights above zero: the rest stays empty. The order is found by counting who comes
  // before.
  const int strong = smem.stronger, found = strong + min(smem.tied, ties);
  if (thread < top) {
    args.keys[static_cast<std::int64_t>(blockIdx.x) * top + thread] = -1;
    args.weights[static_cast<std::int64_t>(blockIdx.x) * top + thread] = 0.0f;
  }
  __syncthreads();
  const auto slot = [&](int n) { return n < strong ? n : top - ties + n - strong; };
  if (thread < found) {
    const float weight = smem.weight[slot(thread)];
    const std::int32_t key = smem.key[slot(thread)];
    int place = 0;
    for (int n = 0; n < found; ++n) {
      const float other = smem.weight[slot(n)];
      place += other > weight || (other == weight && smem.key[slot(n)] < key) ? 1 : 0;
    }
    args.keys[static_cast<std::int64_t>(blockIdx.x) * top + place] = key;
    args.weights[static_cast<std::int64_t>(blockIdx.x) * top + place] = weight;
  }
}

// The same for few keys and a short top: a warp has a row in its registers and takes the strongest away, one
// after the other.
constexpr int kQuickThreads = 128, kQuickTop = 16;

template <int kOfLane>
__global__ void __launch_bounds__(kQuickThreads) quick_top_keys(TopKeysArgs args, int rows) {
  const int row = blockIdx.x * (kQuickThreads / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* weights = args.row_weights + row * args.stride;
  std::uint32_t bits[kOfLane];  // weights are not negative, so their bits are in their order
#pragma unroll
  for (int n = 0; n < kOfLane; ++n) {
    const int key = 32 * n + lane;
    bits[n] = key < args.stride ? __float_as_uint(weights[key]) : 0u;
  }
  std::uint32_t kept_weight = 0;
  std::int32_t kept_key = -1;
  for (int place = 0; place < args.top; ++place) {
    std::uint32_t own = 0;
    int own_n = 0;
#pragma unroll
    for (int n = 0; n < kOfLane; ++n) {
      if (bits[n] > own) own = bits[n], own_n = n;
    }
    const std::uint32_t strongest = __reduce_max_sync(~0u, own);
    if (strongest == 0) break;  // a weight of zero is no key at all
    const unsigned own_key = own == strongest ? static_cast<unsigned>(32 * own_n + lane) : ~0u;
    const unsigned key = __reduce_min_sync(~0u, own_key);
    if (own_key == key) {
#pragma unroll
      for (int n = 0; n < kOfLane; ++n) bits[n] = n == own_n ? 0u : bits[n];
    }
    if (lane == place) {
      kept_weight = strongest;
      kept_key = static_cast<std::int32_t>(key);
    }
  }
  if (lane >= args.top) return;
  args.keys[static_cast<std::int64_t>(row) * args.top + lane] = kept_key;
  args.weights[static_cast<std::int64_t>(row) * args.top + lane] = __uint_as_float(kept_weight);
}

}  // namespace

void launch_close_rows(const CloseRowsArgs& args, int tiles, bool early, const Stream& stream) {
  const auto blocks =
      static_cast<unsigned>((args.common.row_weight_stride + kKeysOfBlock - 1) / kKeysOfBlock);
  launch_kernel({.grid = dim3(blocks, args.common.heads, tiles), .block = kCloseThreads, .early = early},
                stream, "close_rows", close_rows, args);
}

void launch_top_keys(const TopKeysArgs& args, std::int64_t rows_and_heads, const Stream& stream) {
  const auto quick = [&](auto* kernel) {
    constexpr int kRows = kQuickThreads / 32;
    launch_kernel(
        {.grid = dim3(static_cast<unsigned>((rows_and_heads + kRows - 1) / kRows)), .block = kQuickThreads},
        stream, "quick_top_keys", kernel, args, static_cast<int>(rows_and_heads));
  };
  if (args.top <= kQuickTop && args.stride <= 32 * 16) return quick(quick_top_keys<16>);
  if (args.top <= kQuickTop && args.stride <= 32 * 36) return quick(quick_top_keys<36>);
  if (args.top <= kQuickTop && args.stride <= 32 * 64) return quick(quick_top_keys<64>);
  launch_kernel({.grid = dim3(static_cast<unsigned>(rows_and_heads)), .block = kTopThreads}, stream,
                "top_keys", top_keys, args);
}

}  // namespace buoy::ops

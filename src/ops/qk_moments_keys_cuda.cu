#include "ops/qk_moments_cuda.cuh"

namespace buoy::ops {
namespace {

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

}  // namespace

void launch_key_columns(const PlanState& plan, const MomentArgs& args, unsigned sets, const Stream& stream) {
  if (plan.key_tiles_128.count > 0) {
    launch_kernel({.grid = dim3(plan.key_tiles_128.count, static_cast<unsigned>(args.heads), sets),
                   .block = kColumnThreads,
                   .early = plan.early && plan.moment_chunks.count > 0},
                  stream, "key_columns",
                  plan.mask_block == kWholeSequence ? key_columns<false> : key_columns<true>, args);
  }
}

}  // namespace buoy::ops

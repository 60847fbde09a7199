#include "buoy/ops/moments/qk_moments_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kColumnThreads = 256, kChunksAtOnce = 8;
// For the fragments of a product.
constexpr int kKeysOfThread = 2, kKeysOfBlock = kColumnThreads / 4 * kKeysOfThread, kKeyStep = 8;

__device__ uint4 pack_eight(const float* x) {
  return uint4{pack_bf16(x[0], x[1]), pack_bf16(x[2], x[3]), pack_bf16(x[4], x[5]), pack_bf16(x[6], x[7])};
}

__device__ QuadRow turned_back(const QuadRow& row, const DeviceRopeTable& rope, std::int64_t position) {
  QuadRow out;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float low[8], high[8];
    row.unpack(i, low);
    row.unpack(i + 2, high);
    EightAngles angles;
    angles.load(rope, position, 32 * i + threadIdx.x % 4 * 8);
    angles.turn_back(low, high);
    out.piece[i] = pack_eight(low);
    out.piece[i + 2] = pack_eight(high);
  }
  return out;
}

// What is summed over the queries that see a key.
struct KeySums {
  float dot = 0, cosine = 0, dot_before = 0, cosine_before = 0, norms = 0, taken = 0;
};

// Rows [first, end) one by one, eight at a time: the keys of a warp are the left operand. `key` are two keys
// of the thread, `key_back` the same turned back.
template <bool kBack>
__device__ void add_single_rows(KeySums* sums, const MomentArgs& args, const DeviceSequence& sequence,
                                int head, const QuadRow* key, const QuadRow* key_back, const int* seen_from,
                                int first, int end) {
  const DeviceAttentionInputs& in = args.wanted.inputs;
  const float* norms = norms_of(args, sequence, head);
  const int lane = threadIdx.x % 32;
  for (int octet = first; octet < end; octet += 8) {
    const int own = min(octet + lane / 4, end - 1);
    QuadRow query;
    load_halves(query, row_of(in.queries, in.query_stride, sequence.query_start + own, head, args.head_dim),
                args.head_dim / 2, args.aligned);
    float s[4] = {}, before[4] = {};
    multiply_add_rows(s, key[0], key[1], query);
    if (kBack)
      multiply_add_rows(before, key_back[0], key_back[1],
                        turned_back(query, args.wanted.rope, sequence.first_position + own));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = octet + lane % 4 * 2 + i % 2, r = i / 2;
      if (row >= end || row < seen_from[r] || norms[row] < 0) continue;
      const float inverse = norms[row] > 0 ? 1.0f / norms[row] : 0.0f;
      sums[r].dot += s[i];
      sums[r].cosine = fmaf(s[i], inverse, sums[r].cosine);
      sums[r].dot_before += before[i];
      sums[r].cosine_before = fmaf(before[i], inverse, sums[r].cosine_before);
      sums[r].norms += norms[row];
      sums[r].taken += 1;
    }
  }
}

// Sums over the chunks from the one that starts at row `whole` on.
__device__ void add_chunks(float* of_queries, const MomentArgs& args, const DeviceSequence& sequence,
                           int head, int whole) {
  const float* chunk = sums_of(args, sequence, whole, head);
  const int chunks = (sequence.query_rows - whole + args.chunk_rows - 1) / args.chunk_rows;
  constexpr int kColumns = (kMomentWidth + kColumnThreads - 1) / kColumnThreads;
  float total[kColumns] = {};
  for (int first = 0; first < chunks; first += kChunksAtOnce) {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int i = threadIdx.x + c * kColumnThreads;
#pragma unroll
      for (int n = 0; n < kChunksAtOnce; ++n)
        total[c] += first + n < chunks && i < kMomentWidth ? chunk[(first + n) * kMomentWidth + i] : 0.0f;
    }
  }
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int i = threadIdx.x + c * kColumnThreads;
    if (i < kMomentWidth) of_queries[i] = total[c];
  }
}

// kSingle: there may be rows that only some keys of a tile see.
template <bool kSingle, bool kBack>
__global__ void __launch_bounds__(kColumnThreads, 2) key_columns(const __grid_constant__ MomentArgs args) {
  __shared__ __align__(16) float of_queries[kMomentWidth + 2], step_cosine[kMostHalf], step_sine[kMostHalf];
  const DeviceQkMoments& wanted = args.wanted;
  const DeviceAttentionInputs& in = wanted.inputs;
  const MomentPlace place = moment_place(args, args.key_tiles, kKeysOfBlock);
  const DeviceSequence& sequence = place.sequence;
  const int head = blockIdx.y, key_head = head / args.heads_per_key_head, lane = threadIdx.x % 32,
            part = lane % 4 * 8, half = args.head_dim / 2;
  const int last_key = min(place.first + kKeysOfBlock, sequence.key_rows) - 1;
  const int first_row = min(first_seeing_row(sequence, place.first), sequence.query_rows);
  const int last_seen_from = min(first_seeing_row(sequence, last_key), sequence.query_rows);
  // From here on chunks are seen as a whole by all keys of the tile.
  const int whole =
      min((last_seen_from + args.chunk_rows - 1) / args.chunk_rows * args.chunk_rows, sequence.query_rows);

  QuadRow key_row[kKeysOfThread] = {};
  int key[kKeysOfThread], seen_from[kKeysOfThread];
  float self[kKeysOfThread] = {};
#pragma unroll
  for (int r = 0; r < kKeysOfThread; ++r) {
    key[r] = place.first + threadIdx.x / 32 * kKeyStep * kKeysOfThread + lane / 4 + kKeyStep * r;
    seen_from[r] = first_seeing_row(sequence, key[r]);
    if (key[r] <= last_key)
      load_halves(key_row[r],
                  row_of(in.keys, in.key_stride, sequence.key_start + key[r], key_head, args.head_dim), half,
                  args.aligned);
  }
  // A rotation keeps the product of a position with itself.
  if (wanted.after.self_dot != nullptr || wanted.before.self_dot != nullptr) {
#pragma unroll
    for (int r = 0; r < kKeysOfThread; ++r) {
      const int own_row = key[r] - sequence.first_position;
      QuadRow query = {};
      if (key[r] <= last_key && own_row >= 0 && own_row < sequence.query_rows)
        load_halves(query,
                    row_of(in.queries, in.query_stride, sequence.query_start + own_row, head, args.head_dim),
                    half, args.aligned);
      self[r] = dot_of_quad(query, key_row[r]);
    }
  }
  // Of kKeyStep positions; where the table has not so many, no thread has a second key.
  if (kBack && threadIdx.x < kMostHalf) {
    const bool exists = threadIdx.x < half && last_key >= kKeyStep;
    const std::int64_t at = kKeyStep * wanted.rope.pairs + threadIdx.x;
    step_cosine[threadIdx.x] = exists ? wanted.rope.cosines[at] : 1.0f;
    step_sine[threadIdx.x] = exists ? wanted.rope.sines[at] : 0.0f;
  }
  wait_for_prior_grid();
  launch_dependents();
  add_chunks(of_queries, args, sequence, head, whole);
  KeySums sums[kKeysOfThread];
  if (kSingle) {
    QuadRow back[2] = {};
    if (kBack) {
      back[0] = turned_back(key_row[0], wanted.rope, min(key[0], last_key));
      back[1] = turned_back(key_row[1], wanted.rope, min(key[1], last_key));
    }
    add_single_rows<kBack>(sums, args, sequence, head, key_row, back, seen_from, first_row, whole);
  }
  // Of key[0], then of key[1] by turning on.
  EightAngles angles[2];
  if (kBack) {
#pragma unroll
    for (int i = 0; i < 2; ++i) angles[i].load(wanted.rope, min(key[0], last_key), 32 * i + part);
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kKeysOfThread; ++r) {
    KeySums& sum = sums[r];
    float own = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float low[8], high[8];
      key_row[r].unpack(i, low);
      key_row[r].unpack(i + 2, high);
#pragma unroll
      for (int e = 0; e < 8; ++e) own = fmaf(low[e], low[e], fmaf(high[e], high[e], own));
      const float* after = of_queries + 32 * i + part;
      add_products(sum.dot, sum.cosine, low, after);
      add_products(sum.dot, sum.cosine, high, after + kMostHalf);
      if (!kBack) continue;
      angles[i].turn_back(low, high);
      const float* before = after + 2 * kMostDim;
      add_products(sum.dot_before, sum.cosine_before, low, before);
      add_products(sum.dot_before, sum.cosine_before, high, before + kMostHalf);
      angles[i].turn_on(step_cosine + 32 * i + part, step_sine + 32 * i + part);
    }
    const float norm = sqrtf(sum_of_quad(own)), inverse = norm > 0 ? 1.0f / norm : 0.0f;
    const float dot = sum_of_quad(sum.dot), cosine = sum_of_quad(sum.cosine) * inverse;
    const float dot_before = kBack ? sum_of_quad(sum.dot_before) : 0,
                cosine_before = kBack ? sum_of_quad(sum.cosine_before) * inverse : 0;
    const float norms = (sum_of_quad(sum.norms) + of_queries[4 * kMostDim]) * norm;
    const float taken = sum_of_quad(sum.taken) + of_queries[4 * kMostDim + 1];
    const bool exists = key[r] <= last_key, first_of_group = head % args.heads_per_key_head == 0;
    float value_norm = 0;
    if (wanted.value_norm != nullptr && first_of_group) {
      QuadRow value = {};
      if (exists)
        load_halves(value,
                    row_of(in.values, in.value_stride, sequence.key_start + key[r], key_head, args.head_dim),
                    half, args.aligned);
      value_norm = sqrtf(dot_of_quad(value, value));
    }
    if (!exists || lane % 4 != 0) continue;
    const std::int64_t at = static_cast<std::int64_t>(head) * args.columns + sequence.column_start + key[r];
    const std::int64_t of_group =
        static_cast<std::int64_t>(key_head) * args.columns + sequence.column_start + key[r];
    const float per_query = taken > 0 ? 1.0f / taken : 0.0f;
    write_columns(wanted.after, at, dot * per_query, cosine * per_query, norms * per_query, self[r]);
    if (kBack)
      write_columns(wanted.before, at, dot_before * per_query, cosine_before * per_query, norms * per_query,
                    self[r]);
    if (wanted.key_norm != nullptr && first_of_group) wanted.key_norm[of_group] = norm;
    if (wanted.value_norm != nullptr && first_of_group) wanted.value_norm[of_group] = value_norm;
  }
}

}  // namespace

void launch_key_columns(const PlanState& plan, const MomentArgs& args, const Stream& stream) {
  if (plan.key_tiles_128.count == 0) return;
  const bool single = !plan.all_seen, back = args.wanted.rope.cosines != nullptr;
  launch_kernel({.grid = dim3(plan.key_tiles_128.count, static_cast<unsigned>(args.heads)),
                 .block = kColumnThreads,
                 .early = plan.early && plan.moment_chunks.count > 0},
                stream, "key_columns",
                single ? (back ? key_columns<true, true> : key_columns<true, false>)
                       : (back ? key_columns<false, true> : key_columns<false, false>),
                args);
}

}  // namespace buoy::ops

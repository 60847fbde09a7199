#include <algorithm>

#include "buoy/ops/moments/qk_moments_cuda.cuh"

namespace buoy::ops {
namespace {

// Of several layers: the rows of all are few.
constexpr size_t kMostMomentLayers = 12;
template <int kMost>
struct MomentLayers {
  MomentArgs of[kMost];
};

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
//
// Rows are turned back without looking up their angles: with T a turn back by kRowsAtOnce positions, the sum
// over a thread's rows is, from the last one on, sum = row + T sum, and in the end one turn for the first
// row.
template <bool kBack, int kMost>
__global__ void __launch_bounds__(kSumThreads, 2)
    sum_queries(const __grid_constant__ MomentLayers<kMost> layers) {
  __shared__ float partial[kSumWarps][kMomentWidth + 2];
  const MomentArgs& args = layers.of[blockIdx.z];
  const DeviceQkMoments& wanted = args.wanted;
  const MomentPlace chunk = moment_place(args, args.row_chunks, args.chunk_rows);
  const DeviceSequence& sequence = chunk.sequence;
  const int head = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32,
            part = lane % kLanesOfRow * 8, half = args.head_dim / 2;
  const int first = chunk.first + threadIdx.x / kLanesOfRow,
            end = min(chunk.first + args.chunk_rows, sequence.query_rows);
  float* norms = norms_of(args, sequence, head);
  float sums[32] = {}, back[32] = {}, norm_sum = 0, taken_sum = 0;
  EightAngles step, angles;
  constexpr int kTurns = kMost == 1 ? 8 : 2, kRowsOfTurns = kTurns * kRowsAtOnce;
  // Where no two rows of a thread exist the table may be shorter than a step.
  if (kBack) {
    step.load(wanted.rope, end - chunk.first > kRowsAtOnce ? kRowsAtOnce : 0, part);
    angles.load(wanted.rope, sequence.first_position + min(first, sequence.query_rows - 1), part);
  }
  // In this order: the next kernel reads keys as soon as it starts.
  wait_for_prior_grid();
  launch_dependents();
  for (int turn = (end - chunk.first - 1) / kRowsOfTurns; turn >= 0; --turn) {
    uint4 piece[kTurns][2] = {};
#pragma unroll
    for (int n = 0; n < kTurns; ++n) {
      const int row = first + turn * kRowsOfTurns + n * kRowsAtOnce;
      if (row >= end) continue;
      const Bf16* query = row_of(wanted.inputs.queries, wanted.inputs.query_stride,
                                 sequence.query_start + row, head, args.head_dim);
#pragma unroll
      for (int i = 0; i < 2; ++i) piece[n][i] = load_eight(query + i * half, part, half, args.aligned);
    }
#pragma unroll
    for (int n = kTurns - 1; n >= 0; --n) {
      const int row = first + turn * kRowsOfTurns + n * kRowsAtOnce, packed = sequence.query_start + row;
      float x[2][8], squares = 0;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        unpack_eight(piece[n][i], x[i]);
#pragma unroll
        for (int e = 0; e < 8; ++e) squares = fmaf(x[i][e], x[i][e], squares);
      }
#pragma unroll
      for (int next = 1; next < kLanesOfRow; next *= 2) squares += __shfl_xor_sync(~0u, squares, next);
      const float norm = sqrtf(squares);
      const bool exists = row < end,
                 taken = exists && (wanted.use_row == nullptr || wanted.use_row[packed] != 0);
      if (exists && part == 0) {
        if (wanted.query_norm != nullptr)
          wanted.query_norm[static_cast<std::int64_t>(head) * args.rows + packed] = norm;
        norms[row] = taken ? norm : -1.0f;
      }
      const float weight = taken ? 1.0f : 0.0f, inverse = taken && norm > 0 ? 1.0f / norm : 0.0f;
      if (kBack) {
        step.turn_back(back, back + 8);
        step.turn_back(back + 16, back + 24);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          const int query = 8 * i + e, direction = 16 + query;
          sums[query] = fmaf(x[i][e], weight, sums[query]);
          sums[direction] = fmaf(x[i][e], inverse, sums[direction]);
          if (kBack) {
            back[query] = fmaf(x[i][e], weight, back[query]);
            back[direction] = fmaf(x[i][e], inverse, back[direction]);
          }
        }
      }
      norm_sum += taken ? norm : 0.0f;
      taken_sum += weight;
    }
  }
  // Where the halving leaves which sums: bit 4 of the lane tells queries from directions, bit 3 the half of
  // the columns.
  const int at = lane / 16 * kMostDim + lane / 8 % 2 * kMostHalf + part;
  add_rows_of_warp(sums);
#pragma unroll
  for (int e = 0; e < 8; ++e) partial[warp][at + e] = sums[e];
  if (kBack) {
    angles.turn_back(back, back + 8);
    angles.turn_back(back + 16, back + 24);
    add_rows_of_warp(back);
#pragma unroll
    for (int e = 0; e < 8; ++e) partial[warp][2 * kMostDim + at + e] = back[e];
  }
#pragma unroll
  for (int next = kLanesOfRow; next < 32; next *= 2) {
    norm_sum += __shfl_xor_sync(~0u, norm_sum, next);
    taken_sum += __shfl_xor_sync(~0u, taken_sum, next);
  }
  if (lane == 0) {
    partial[warp][4 * kMostDim] = norm_sum;
    partial[warp][4 * kMostDim + 1] = taken_sum;
  }
  __syncthreads();
  float* out = sums_of(args, sequence, chunk.first, head);
  for (int i = threadIdx.x; i < kMomentWidth; i += kSumThreads) {
    if (!kBack && i >= 2 * kMostDim && i < 4 * kMostDim) continue;
    float sum = 0;
    for (int w = 0; w < kSumWarps; ++w) sum += partial[w][i];
    out[i] = sum;
  }
}

template <int kMost>
void launch(const PlanState& plan, std::span<const MomentArgs> layers, const Stream& stream) {
  MomentLayers<kMost> all{};
  std::copy(layers.begin(), layers.end(), all.of);
  launch_kernel(
      {.grid = dim3(static_cast<unsigned>(plan.moment_chunks.count), static_cast<unsigned>(layers[0].heads),
                    static_cast<unsigned>(layers.size())),
       .block = kSumThreads,
       .early = plan.early},
      stream, "sum_queries",
      layers[0].wanted.rope.cosines != nullptr ? sum_queries<true, kMost> : sum_queries<false, kMost>, all);
}

}  // namespace

void launch_sum_queries(const PlanState& plan, std::span<const MomentArgs> layers, const Stream& stream) {
  if (plan.moment_chunks.count == 0 || layers.empty()) return;
  if (layers.size() == 1) return launch<1>(plan, layers, stream);
  for (size_t first = 0; first < layers.size(); first += kMostMomentLayers)
    launch<kMostMomentLayers>(
        plan, layers.subspan(first, std::min<size_t>(kMostMomentLayers, layers.size() - first)), stream);
}

}  // namespace buoy::ops

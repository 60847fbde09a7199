#include "ops/qk_moments_cuda.cuh"

namespace buoy::ops {
namespace {

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

}  // namespace

void launch_sum_queries(const PlanState& plan, const MomentArgs& args, unsigned sets, const Stream& stream) {
  if (plan.moment_chunks.count > 0) {
    launch_kernel({.grid = dim3(plan.moment_chunks.count, static_cast<unsigned>(args.heads), sets),
                   .block = kSumThreads,
                   .early = plan.early},
                  stream, "sum_queries", sum_queries, args);
  }
}

}  // namespace buoy::ops

// Lengths of values, beside moments that ride in the passes of attention: those look at queries and keys
// alone.

#include "buoy/ops/moments/qk_moments_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kRowsOfTile = 128, kThreads = 256, kLanesOfRow = 16, kRowsAtOnce = kThreads / kLanesOfRow,
              kTurns = kRowsOfTile / kRowsAtOnce;

__device__ float squares_of_eight(const uint4& piece) {
  const std::uint32_t pairs[4] = {piece.x, piece.y, piece.z, piece.w};
  float sum = 0;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const float low = __uint_as_float(pairs[e] << 16), high = __uint_as_float(pairs[e] & 0xFFFF0000u);
    sum = fmaf(low, low, fmaf(high, high, sum));
  }
  return sum;
}

// A block has 128 rows of one head.
__global__ void __launch_bounds__(kThreads) value_norms(const __grid_constant__ MomentArgs args) {
  __shared__ float norms[kRowsOfTile];
  const DeviceAttentionInputs& in = args.wanted.inputs;
  const MomentPlace place = moment_place(args, args.key_tiles, kRowsOfTile);
  const DeviceSequence& sequence = place.sequence;
  const int head = blockIdx.y;
  const int lane = threadIdx.x % kLanesOfRow, own = threadIdx.x / kLanesOfRow,
            end = min(kRowsOfTile, sequence.key_rows - place.first);
  uint4 piece[kTurns];
#pragma unroll
  for (int n = 0; n < kTurns; ++n) {
    const int row = min(n * kRowsAtOnce + own, end - 1);
    piece[n] = load_eight(
        row_of(in.values, in.value_stride, sequence.key_start + place.first + row, head, args.head_dim),
        8 * lane, args.head_dim, args.aligned);
  }
#pragma unroll
  for (int n = 0; n < kTurns; ++n) {
    float squares = squares_of_eight(piece[n]);
#pragma unroll
    for (int other = 1; other < kLanesOfRow; other *= 2) squares += __shfl_xor_sync(~0u, squares, other);
    if (lane == 0) norms[n * kRowsAtOnce + own] = sqrtf(squares);
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < end)
    args.wanted.value_norm[static_cast<std::int64_t>(head) * args.columns + sequence.column_start +
                           place.first + threadIdx.x] = norms[threadIdx.x];
}

}  // namespace

void launch_value_norms(const PlanState& plan, const MomentArgs& args, const Stream& stream) {
  if (plan.key_tiles_128.count == 0) return;
  launch_kernel(
      {.grid = dim3(plan.key_tiles_128.count, static_cast<unsigned>(args.heads / args.heads_per_key_head)),
       .block = kThreads},
      stream, "value_norms", value_norms, args);
}

}  // namespace buoy::ops

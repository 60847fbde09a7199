// Lengths of queries, keys and values, beside moments that ride in the passes of attention.

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

// A block has 128 rows of one head of queries, of keys or of values; sequences are whole, so that rows of
// queries are rows of keys.
__global__ void __launch_bounds__(kThreads) row_norms(const __grid_constant__ MomentArgs args) {
  __shared__ float norms[kRowsOfTile];
  const DeviceQkMoments& wanted = args.wanted;
  const DeviceAttentionInputs& in = wanted.inputs;
  const MomentPlace place = moment_place(args, args.key_tiles, kRowsOfTile);
  const DeviceSequence& sequence = place.sequence;
  const int kv_heads = args.heads / args.heads_per_key_head;
  int head = blockIdx.y;
  const std::uint16_t* states = in.queries;
  std::int64_t stride = in.query_stride, start = sequence.query_start, first_out = sequence.query_start,
               row_of_heads = args.rows;
  float* out = wanted.query_norm;
  if (head >= args.heads) {
    head -= args.heads;
    states = in.keys, stride = in.key_stride, out = wanted.key_norm;
    start = sequence.key_start, first_out = sequence.column_start, row_of_heads = args.columns;
    if (head >= kv_heads) {
      head -= kv_heads;
      states = in.values, stride = in.value_stride, out = wanted.value_norm;
    }
  }
  if (out == nullptr) return;
  const int lane = threadIdx.x % kLanesOfRow, own = threadIdx.x / kLanesOfRow,
            end = min(kRowsOfTile, sequence.key_rows - place.first);
  uint4 piece[kTurns];
#pragma unroll
  for (int n = 0; n < kTurns; ++n) {
    const int row = min(n * kRowsAtOnce + own, end - 1);
    piece[n] = load_eight(row_of(states, stride, start + place.first + row, head, args.head_dim), 8 * lane,
                          args.head_dim, args.aligned);
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
    out[head * row_of_heads + first_out + place.first + threadIdx.x] = norms[threadIdx.x];
}

}  // namespace

void launch_row_norms(const PlanState& plan, const MomentArgs& args, const Stream& stream) {
  if (plan.key_tiles_128.count == 0) return;
  const int heads = args.heads + 2 * (args.heads / args.heads_per_key_head);
  launch_kernel({.grid = dim3(plan.key_tiles_128.count, static_cast<unsigned>(heads)),
                 .block = kThreads,
                 .early = false},
                stream, "row_norms", row_norms, args);
}

}  // namespace buoy::ops

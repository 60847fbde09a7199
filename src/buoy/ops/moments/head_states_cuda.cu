#include "buoy/ops/device/bf16.cuh"
#include "buoy/ops/moments/head_states_cuda.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

constexpr int kLanes = 32, kWarps = 8;

__device__ float head_number(std::uint16_t bits) {
  return __uint_as_float(static_cast<std::uint32_t>(bits) << 16);
}

// A warp has a vector: pairs of numbers where they lie so, else one after the other.
__device__ bool in_pairs(const DeviceHeadStates& of) {
  return of.head_dim % 2 == 0 && of.stride % 2 == 0 && reinterpret_cast<std::uintptr_t>(of.states) % 4 == 0;
}

// The warp's row and head; false: there is none.
__device__ bool find_place(const DeviceHeadStates& of, std::int64_t& row, std::int64_t& head) {
  const std::int64_t vector = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / kLanes;
  row = vector / of.heads;
  head = vector % of.heads;
  return row < of.rows;
}

__global__ void __launch_bounds__(kLanes* kWarps) head_norms_kernel(DeviceHeadNorms args) {
  std::int64_t row, head;
  if (!find_place(args.of, row, head)) return;
  const std::uint16_t* state = args.of.states + row * args.of.stride + head * args.of.head_dim;
  const int lane = threadIdx.x % kLanes;
  float squares = 0;
  if (in_pairs(args.of)) {
    const auto* pairs = reinterpret_cast<const std::uint32_t*>(state);
    for (std::int64_t i = lane; i < args.of.head_dim / 2; i += kLanes) {
      const float2 pair = unpack_bf16(pairs[i]);
      squares = fmaf(pair.x, pair.x, fmaf(pair.y, pair.y, squares));
    }
  } else {
    for (std::int64_t i = lane; i < args.of.head_dim; i += kLanes) {
      const float number = head_number(state[i]);
      squares = fmaf(number, number, squares);
    }
  }
  squares = warp_sum(squares);
  if (lane == 0) args.norms[head * args.head_stride + row] = sqrtf(squares);
}

__global__ void __launch_bounds__(kLanes* kWarps) head_drift_kernel(DeviceHeadDrift args) {
  const DeviceHeadStates& now = args.now;
  std::int64_t row, head;
  if (!find_place(now, row, head)) return;
  const std::uint16_t* state = now.states + row * now.stride + head * now.head_dim;
  std::uint16_t* before = args.before + (row * now.heads + head) * now.head_dim;
  const int lane = threadIdx.x % kLanes;
  const bool known = row < args.before_rows;
  float dot = 0, here = 0, there = 0;
  if (in_pairs(now)) {
    const auto* pairs = reinterpret_cast<const std::uint32_t*>(state);
    auto* old_pairs = reinterpret_cast<std::uint32_t*>(before);
    for (std::int64_t i = lane; i < now.head_dim / 2; i += kLanes) {
      const std::uint32_t bits = pairs[i];
      if (known) {
        const float2 a = unpack_bf16(bits), b = unpack_bf16(old_pairs[i]);
        dot = fmaf(a.x, b.x, fmaf(a.y, b.y, dot));
        here = fmaf(a.x, a.x, fmaf(a.y, a.y, here));
        there = fmaf(b.x, b.x, fmaf(b.y, b.y, there));
      }
      old_pairs[i] = bits;
    }
  } else {
    for (std::int64_t i = lane; i < now.head_dim; i += kLanes) {
      if (known) {
        const float a = head_number(state[i]), b = head_number(before[i]);
        dot = fmaf(a, b, dot);
        here = fmaf(a, a, here);
        there = fmaf(b, b, there);
      }
      before[i] = state[i];
    }
  }
  dot = warp_sum(dot);
  here = warp_sum(here);
  there = warp_sum(there);
  if (lane != 0) return;
  const float lengths = sqrtf(here) * sqrtf(there);
  const float cosine = lengths > 0 ? fminf(1.0f, fmaxf(-1.0f, dot / lengths)) : 0.0f;
  args.cosines[head * args.head_stride + row] = known ? cosine : 1.0f;
}

unsigned blocks_of(const DeviceHeadStates& of) {
  return static_cast<unsigned>((of.rows * of.heads + kWarps - 1) / kWarps);
}

}  // namespace

void head_norms_cuda(const Stream& stream, const DeviceHeadNorms& args) {
  if (args.of.rows == 0) return;
  head_norms_kernel<<<blocks_of(args.of), kLanes * kWarps, 0, static_cast<cudaStream_t>(stream.handle())>>>(
      args);
  check_launch("head_norms");
}

void head_drift_cuda(const Stream& stream, const DeviceHeadDrift& args) {
  if (args.now.rows == 0) return;
  head_drift_kernel<<<blocks_of(args.now), kLanes * kWarps, 0, static_cast<cudaStream_t>(stream.handle())>>>(
      args);
  check_launch("head_drift");
}

}  // namespace buoy::ops

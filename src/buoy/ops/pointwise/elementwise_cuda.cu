#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/ops/device/bf16.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/device/philox.cuh"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 256;

cudaStream_t raw(const Stream& stream) {
  return static_cast<cudaStream_t>(stream.handle());
}

unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

__global__ void embed_kernel(DeviceEmbedArgs args) {
  const std::int64_t row = blockIdx.x;
  const auto* from = reinterpret_cast<const uint2*>(args.table + args.tokens[row] * args.width);
  auto* out = reinterpret_cast<float4*>(args.output + row * args.width);
  for (int i = threadIdx.x; i < args.width / 4; i += kThreads) {
    const uint2 four = from[i];
    const float2 low = unpack_bf16(four.x), high = unpack_bf16(four.y);
    out[i] = {low.x, low.y, high.x, high.y};
  }
}

__device__ float silu_times(float gate, float up) {
  return gate / (1.0f + __expf(-gate)) * up;
}

__device__ std::uint32_t silu_times(std::uint32_t gates, std::uint32_t ups) {
  const float2 gate = unpack_bf16(gates), up = unpack_bf16(ups);
  return pack_bf16(silu_times(gate.x, up.x), silu_times(gate.y, up.y));
}

// Eight numbers per thread.
__global__ void swiglu_kernel(DeviceSwigluArgs args) {
  launch_dependents();
  wait_for_prior_grid();
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.rows * args.width / 8) return;
  const auto* in = reinterpret_cast<const uint4*>(args.gate_up) + 2 * i;
  const uint4 gate = __ldcs(in), up = __ldcs(in + 1);
  reinterpret_cast<uint4*>(args.output)[i] = make_uint4(silu_times(gate.x, up.x), silu_times(gate.y, up.y),
                                                        silu_times(gate.z, up.z), silu_times(gate.w, up.w));
}

__global__ void scale_heads_kernel(DeviceScaleHeadsArgs args) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.rows * args.heads * args.head_dim) return;
  const float state = __uint_as_float(static_cast<std::uint32_t>(args.states[i]) << 16);
  args.states[i] =
      static_cast<std::uint16_t>(pack_bf16(state * args.factors[i / args.head_dim % args.heads], 0));
}

__global__ void scale_numbers_kernel(DeviceScaleNumbersArgs args) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < args.count) args.output[i] = args.values[i] * *args.factor;
}

__global__ void find_non_finite_kernel(const float* values, std::int64_t count, std::int32_t* flag,
                                       std::int32_t code) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  bool found = false;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step)
    found |= !isfinite(values[i]);
  if (found) atomicMin(flag, code);
}

__global__ void widen_kernel(DeviceWidenArgs args) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.rows * args.width) return;
  const std::uint32_t bits = args.rows_in[i / args.width * args.stride + i % args.width];
  args.output[i] = __uint_as_float(bits << 16);
}

__global__ void fill_normal_kernel(std::uint16_t* out, std::int64_t count, std::uint64_t seed,
                                   float deviation) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (2 * i >= count) return;
  const uint4 words =
      philox(seed, make_uint4(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32), 0, 6));
  const float radius = deviation * sqrtf(-2.0f * logf((words.x + 1.0f) * 0x1p-32f));
  const float turn = words.y * 0x1p-31f;  // in units of pi
  out[2 * i] = static_cast<std::uint16_t>(pack_bf16(radius * cospif(turn), 0));
  if (2 * i + 1 < count) out[2 * i + 1] = static_cast<std::uint16_t>(pack_bf16(radius * sinpif(turn), 0));
}

}  // namespace

void embed_cuda(const Stream& stream, const DeviceEmbedArgs& args) {
  BUOY_CHECK(args.width % 4 == 0);
  if (args.rows == 0) return;
  embed_kernel<<<static_cast<unsigned>(args.rows), kThreads, 0, raw(stream)>>>(args);
  check_launch("embed");
}

void swiglu_cuda(const Stream& stream, const DeviceSwigluArgs& args) {
  BUOY_CHECK(args.width % 8 == 0);
  if (args.rows == 0) return;
  launch_kernel(
      {.grid = dim3(blocks_for(args.rows * args.width / 8)), .block = kThreads, .early = gpu().major >= 9},
      stream, "swiglu", swiglu_kernel, args);
}

void scale_heads_cuda(const Stream& stream, const DeviceScaleHeadsArgs& args) {
  if (args.rows == 0) return;
  scale_heads_kernel<<<blocks_for(args.rows * args.heads * args.head_dim), kThreads, 0, raw(stream)>>>(args);
  check_launch("scale_heads");
}

void scale_numbers_cuda(const Stream& stream, const DeviceScaleNumbersArgs& args) {
  if (args.count == 0) return;
  scale_numbers_kernel<<<blocks_for(args.count), kThreads, 0, raw(stream)>>>(args);
  check_launch("scale_numbers");
}

void find_non_finite_cuda(const Stream& stream, const float* values, std::int64_t count, std::int32_t* flag,
                          std::int32_t code) {
  if (count == 0) return;
  constexpr unsigned kMostBlocks = 132 * 16;
  find_non_finite_kernel<<<std::min(kMostBlocks, blocks_for(count)), kThreads, 0, raw(stream)>>>(
      values, count, flag, code);
  check_launch("find_non_finite");
}

void widen_cuda(const Stream& stream, const DeviceWidenArgs& args) {
  if (args.rows == 0) return;
  widen_kernel<<<blocks_for(args.rows * args.width), kThreads, 0, raw(stream)>>>(args);
  check_launch("widen");
}

void fill_normal_cuda(const Stream& stream, std::uint16_t* out, std::int64_t count, std::uint64_t seed,
                      double deviation) {
  if (count == 0) return;
  fill_normal_kernel<<<blocks_for((count + 1) / 2), kThreads, 0, raw(stream)>>>(
      out, count, seed, static_cast<float>(deviation));
  check_launch("fill_normal");
}

}  // namespace buoy::ops

#include "base/error.h"
#include "ops/bf16.cuh"
#include "ops/launch_cuda.cuh"
#include "ops/norm_cuda.h"

namespace buoy::ops {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kKept = 8;  // groups of four numbers a thread keeps in registers: rows up to 8192 are read once

__device__ float block_sum(float value) {
  __shared__ float partial[kWarps];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0;
  for (int warp = 0; warp < kWarps; ++warp) total += partial[warp];
  return total;
}

__device__ void store(uint2* out, float4 x, float4 w, float factor) {
  *out = {pack_bf16(x.x * factor * w.x, x.y * factor * w.y),
          pack_bf16(x.z * factor * w.z, x.w * factor * w.w)};
}

// One block per row, the last row first: what was written last is still in the L2 cache, and what is read
// first behind this is written last.
__global__ void __launch_bounds__(kThreads) rms_norm_kernel(DeviceNormArgs args) {
  let_next_start();
  wait_for_previous();
  const std::int64_t row = gridDim.x - 1 - blockIdx.x;
  const std::int64_t from = args.chosen != nullptr ? args.chosen[row] : row;
  const auto* input = reinterpret_cast<const float4*>(args.input + from * args.width);
  const auto* weight = reinterpret_cast<const float4*>(args.weight);
  auto* output = reinterpret_cast<uint2*>(args.output + row * args.width);
  const int groups = static_cast<int>(args.width / 4);

  float4 kept[kKept];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = k * kThreads + threadIdx.x;
    if (i < groups) {
      kept[k] = input[i];
      sum += kept[k].x * kept[k].x + kept[k].y * kept[k].y + kept[k].z * kept[k].z + kept[k].w * kept[k].w;
    }
  }
  for (int i = kKept * kThreads + threadIdx.x; i < groups; i += kThreads) {
    const float4 x = input[i];
    sum += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
  }
  const float mean = block_sum(sum) / static_cast<float>(args.width);
  const float factor = rsqrtf(mean + static_cast<float>(args.eps));
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = k * kThreads + threadIdx.x;
    if (i < groups) store(output + i, kept[k], weight[i], factor);
  }
  for (int i = kKept * kThreads + threadIdx.x; i < groups; i += kThreads)
    store(output + i, input[i], weight[i], factor);
}

}  // namespace

void rms_norm_cuda(const Stream& stream, const DeviceNormArgs& args) {
  BUOY_CHECK(args.rows >= 0 && args.width > 0 && args.width % 4 == 0 && args.eps > 0);
  if (args.rows == 0) return;
  launch_kernel(
      {.grid = dim3(static_cast<unsigned>(args.rows)), .block = kThreads, .early = gpu().major >= 9}, stream,
      "rms_norm", rms_norm_kernel, args);
}

}  // namespace buoy::ops

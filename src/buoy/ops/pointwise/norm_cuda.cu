#include "buoy/base/error.h"
#include "buoy/ops/device/bf16.cuh"
#include "buoy/ops/device/block_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/pointwise/norm_cuda.h"

namespace buoy::ops {
namespace {

constexpr int kThreads = 256;

__device__ void store(uint2* out, float4 x, float4 w, float factor) {
  *out = {pack_bf16(x.x * factor * w.x, x.y * factor * w.y),
          pack_bf16(x.z * factor * w.z, x.w * factor * w.w)};
}

__device__ void prefetch(const void* global) {
  asm volatile("prefetch.global.L1 [%0];\n" ::"l"(global));
}

// One block per row, the last row first: what was written last is still in the L2 cache, and what is read
// first behind this is written last. A thread keeps kKept groups of four numbers in registers; rows of up to
// 1024 kKept numbers are read once, longer ones twice where `kLonger`. Of many rows (kMany) as many blocks as
// fit at once hide each other's waiting; of few nothing does, and registers are there to fetch the weights
// before: so one trip to memory is all that lies between the kernel in front and the one behind.
template <int kKept, bool kLonger, bool kMany>
__global__ void __launch_bounds__(kThreads, kMany ? (kLonger ? 3 : kMostThreads / kThreads) : 2)
    rms_norm_kernel(DeviceNormArgs args) {
  launch_dependents();
  // Nothing on the GPU writes weights: they come while the kernel in front ends and the row is summed.
  const auto* weight = reinterpret_cast<const float4*>(args.weight);
  const int groups = static_cast<int>(args.width / 4);
  float4 weights[kKept];
  if constexpr (kMany) {
    for (int i = threadIdx.x; i < groups; i += kThreads) prefetch(weight + i);
  } else {
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      const int i = k * kThreads + threadIdx.x;
      if (i < groups) weights[k] = weight[i];
    }
  }
  const std::int64_t row = gridDim.x - 1 - blockIdx.x;
  const std::int64_t from = args.chosen != nullptr ? args.chosen[row] : row;
  const auto* input = reinterpret_cast<const float4*>(args.input + from * args.width);
  auto* output = reinterpret_cast<uint2*>(args.output + row * args.width);
  wait_for_prior_grid();

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
  for (int i = kKept * kThreads + threadIdx.x; kLonger && i < groups; i += kThreads) {
    const float4 x = input[i];
    sum += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
  }
  const float mean = block_sum<kThreads>(sum) / static_cast<float>(args.width);
  // Squares beyond a float's range would make a row of zeros; a NaN is found and named.
  const float factor = mean < INFINITY ? rsqrtf(mean + static_cast<float>(args.eps)) : nanf("");
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = k * kThreads + threadIdx.x;
    if (i < groups) store(output + i, kept[k], kMany ? weight[i] : weights[k], factor);
  }
  for (int i = kKept * kThreads + threadIdx.x; kLonger && i < groups; i += kThreads)
    store(output + i, input[i], weight[i], factor);
}

template <int kKept, bool kLonger>
void launch(const Stream& stream, const DeviceNormArgs& args) {
  const bool many = args.rows > gpu().multiprocessors;
  const LaunchShape shape{
      .grid = dim3(static_cast<unsigned>(args.rows)), .block = kThreads, .early = gpu().major >= 9};
  launch_kernel(shape, stream, "rms_norm",
                many ? rms_norm_kernel<kKept, kLonger, true> : rms_norm_kernel<kKept, kLonger, false>, args);
}

}  // namespace

void rms_norm_cuda(const Stream& stream, const DeviceNormArgs& args) {
  BUOY_CHECK(args.rows >= 0 && args.width > 0 && args.width % 4 == 0 && args.eps > 0);
  if (args.rows == 0) return;
  if (args.width <= 4 * 4 * kThreads) {
    launch<4, false>(stream, args);
  } else {
    launch<8, true>(stream, args);
  }
}

}  // namespace buoy::ops

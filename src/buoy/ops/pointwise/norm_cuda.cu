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

// In the order of the parts. `i` counts groups of four numbers.
__device__ float4 with_parts(float4 x, const DeviceParts& parts, std::int64_t groups_of_part,
                             std::int64_t i) {
  const auto* part = reinterpret_cast<const float4*>(parts.first) + i;
  for (int n = 0; n < parts.count; ++n, part += groups_of_part) {
    const float4 more = __ldcs(part);
    x.x += more.x, x.y += more.y, x.z += more.z, x.w += more.w;
  }
  return x;
}

__global__ void __launch_bounds__(kThreads)
    add_parts_kernel(float4* to, std::int64_t groups, DeviceParts parts) {
  launch_dependents();
  wait_for_prior_grid();
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < groups) to[i] = with_parts(to[i], parts, groups, i);
}

// One block per row, the last row first: what was written last is still in the L2 cache, and what is read
// first behind this is written last. A thread keeps kKept groups of four numbers in registers; rows of up to
// 1024 kKept numbers are read once, longer ones twice where `kLonger`. As many blocks as fit at once hide
// each other's waiting.
template <int kKept, bool kLonger, bool kParts>
__global__ void __launch_bounds__(kThreads, kLonger ? 3 : kMostThreads / kThreads)
    rms_norm_kernel(DeviceNormArgs args) {
  launch_dependents();
  // Nothing on the GPU writes weights: they come while the kernel in front ends and the row is summed.
  const auto* weight = reinterpret_cast<const float4*>(args.weight);
  const int groups = static_cast<int>(args.width / 4);
  for (int i = threadIdx.x; i < groups; i += kThreads) prefetch(weight + i);
  wait_for_prior_grid();
  const std::int64_t row = gridDim.x - 1 - blockIdx.x;
  const std::int64_t from = args.chosen != nullptr ? args.chosen[row] : row;
  auto* input = reinterpret_cast<float4*>(args.input + from * args.width);
  auto* output = reinterpret_cast<uint2*>(args.output + row * args.width);

  const auto read = [&](int i) {
    if constexpr (!kParts) return input[i];
    const float4 x = with_parts(input[i], args.parts, args.rows * groups, row * groups + i);
    input[i] = x;
    return x;
  };
  float4 kept[kKept];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = k * kThreads + threadIdx.x;
    if (i < groups) {
      kept[k] = read(i);
      sum += kept[k].x * kept[k].x + kept[k].y * kept[k].y + kept[k].z * kept[k].z + kept[k].w * kept[k].w;
    }
  }
  for (int i = kKept * kThreads + threadIdx.x; kLonger && i < groups; i += kThreads) {
    const float4 x = read(i);
    sum += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
  }
  const float mean = block_sum<kThreads>(sum) / static_cast<float>(args.width);
  // Squares beyond a float's range would make a row of zeros; a NaN is found and named.
  const float factor = mean < INFINITY ? rsqrtf(mean + static_cast<float>(args.eps)) : nanf("");
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int i = k * kThreads + threadIdx.x;
    if (i < groups) store(output + i, kept[k], weight[i], factor);
  }
  for (int i = kKept * kThreads + threadIdx.x; kLonger && i < groups; i += kThreads)
    store(output + i, input[i], weight[i], factor);
}

}  // namespace

void rms_norm_cuda(const Stream& stream, const DeviceNormArgs& args) {
  BUOY_CHECK(args.rows >= 0 && args.width > 0 && args.width % 4 == 0 && args.eps > 0);
  BUOY_CHECK(args.parts.count == 0 || args.chosen == nullptr);
  if (args.rows == 0) return;
  const LaunchShape shape{
      .grid = dim3(static_cast<unsigned>(args.rows)), .block = kThreads, .early = gpu().major >= 9};
  const bool parts = args.parts.count > 0;
  if (args.width <= 4 * 4 * kThreads) {
    launch_kernel(shape, stream, "rms_norm",
                  parts ? rms_norm_kernel<4, false, true> : rms_norm_kernel<4, false, false>, args);
  } else {
    launch_kernel(shape, stream, "rms_norm",
                  parts ? rms_norm_kernel<8, true, true> : rms_norm_kernel<8, true, false>, args);
  }
}

void add_parts_cuda(const Stream& stream, float* to, std::int64_t rows, std::int64_t width,
                    const DeviceParts& parts) {
  BUOY_CHECK(width % 4 == 0);
  const std::int64_t groups = rows * width / 4;
  if (groups == 0) return;
  launch_kernel({.grid = dim3(static_cast<unsigned>((groups + kThreads - 1) / kThreads)),
                 .block = kThreads,
                 .early = gpu().major >= 9},
                stream, "add parts", add_parts_kernel, reinterpret_cast<float4*>(to), groups, parts);
}

}  // namespace buoy::ops

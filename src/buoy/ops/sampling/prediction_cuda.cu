#include "buoy/base/error.h"
#include "buoy/ops/device/largest_cuda.cuh"
#include "buoy/ops/sampling/prediction.h"
#include "buoy/ops/sampling/prediction_cuda.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 512;
using Row = LargestOfRow<kThreads>;

// One block per row. The row is read twice: for the largest numbers, then for the sums.
__global__ void __launch_bounds__(kThreads) predict_kernel(DevicePredictionArgs args) {
  const std::int64_t number = blockIdx.x;
  const float* row = args.logits + number * args.vocabulary;
  const auto vocabulary = static_cast<std::int32_t>(args.vocabulary);
  Row largest(row, vocabulary);
  const Ranked top = largest.take();
  double own_sum = 0, own_below = 0;
#pragma unroll 4
  for (std::int32_t id = threadIdx.x; id < vocabulary; id += kThreads) {
    const double x = static_cast<double>(row[id]) - top.score, weight = exp(x);
    own_sum += weight;
    own_below -= weight > 0 ? x * weight : 0.0;
  }
  const double sum = block_sum<kThreads>(own_sum), below = block_sum<kThreads>(own_below);
  const std::int32_t held = args.held[number];
  Ranked last = top;
  double second = 0;
  const auto named = static_cast<int>(args.top < 2 ? 2 : args.top);
  for (int i = 0; i < named; ++i) {
    if (i > 0) last = largest.take();
    const bool there = i < vocabulary;
    const double p = there ? exp(static_cast<double>(last.score) - top.score) / sum : 0.0;
    if (i == 1) second = p;
    if (threadIdx.x != 0 || i >= args.top) continue;
    args.tokens[number * args.top + i] = there ? last.id : kNoToken;
    args.probabilities[number * args.top + i] = static_cast<float>(p);
  }
  if (threadIdx.x != 0) return;
  float* values = args.values + number * 3;
  values[0] = static_cast<float>(held < 0 ? 1 / sum : exp(static_cast<double>(row[held]) - top.score) / sum);
  values[1] = static_cast<float>(log(sum) + below / sum);
  values[2] = static_cast<float>(1 / sum - second);
}

}  // namespace

void predict_cuda(const Stream& stream, const DevicePredictionArgs& args) {
  BUOY_CHECK(args.vocabulary > 0 && args.vocabulary <= Row::kMostNumbers && args.top >= 0);
  if (args.rows == 0) return;
  predict_kernel<<<static_cast<unsigned>(args.rows), kThreads, 0,
                   static_cast<cudaStream_t>(stream.handle())>>>(args);
  check_launch("predict");
}

}  // namespace buoy::ops

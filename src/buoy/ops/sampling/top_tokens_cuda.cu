#include "buoy/base/error.h"
#include "buoy/ops/device/largest_cuda.cuh"
#include "buoy/ops/sampling/top_tokens_cuda.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 1024;
using Row = LargestOfRow<kThreads>;

// One block per row, which is read twice, from the L2 cache as a rule.
__global__ void __launch_bounds__(kThreads)
    top_tokens_kernel(TopTokensArgs args, DeviceNotFinite not_finite) {
  const float* logits = args.logits + blockIdx.x * args.vocabulary;
  const auto count = static_cast<std::int32_t>(args.vocabulary);
  Row row(logits, count);
  Ranked last = row.take();
  const float largest = last.score;
  float own = 0;
#pragma unroll 8
  for (std::int32_t id = threadIdx.x; id < count; id += kThreads) own += expf(logits[id] - largest);
  const float sum = block_sum<kThreads>(own);
  // A NaN or an infinity among the logits makes the sum a NaN.
  if (not_finite.flag != nullptr && threadIdx.x == 0 && !isfinite(sum))
    atomicMin(not_finite.flag, not_finite.code);
  for (std::int64_t k = 0; k < args.top; ++k) {
    if (k > 0) last = row.take();
    if (threadIdx.x != 0) continue;
    args.tokens[blockIdx.x * args.top + k] = last.id;
    args.probabilities[blockIdx.x * args.top + k] = expf(last.score - largest) / sum;
  }
}

}  // namespace

void top_tokens_cuda(const Stream& stream, const TopTokensArgs& args, const DeviceNotFinite& not_finite) {
  BUOY_CHECK(args.top >= 1 && args.top <= args.vocabulary && args.vocabulary <= Row::kMostNumbers);
  if (args.rows == 0) return;
  top_tokens_kernel<<<static_cast<unsigned>(args.rows), kThreads, 0,
                      static_cast<cudaStream_t>(stream.handle())>>>(args, not_finite);
  check_launch("top_tokens");
}

}  // namespace buoy::ops

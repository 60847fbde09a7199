#include "buoy/base/error.h"
#include "buoy/ops/sampling/top_tokens_cuda.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 1024, kWarps = kThreads / 32;

// A logit and its id; a larger logit goes first, of equal ones the lower id.
struct Ranked {
  float logit;
  std::int32_t id;

  __device__ bool before(const Ranked& other) const {
    return logit > other.logit || (logit == other.logit && id < other.id);
  }
};

__device__ Ranked block_first(Ranked mine) {
  __shared__ Ranked partial[kWarps];
  for (int offset = 16; offset > 0; offset /= 2) {
    const Ranked other{__shfl_xor_sync(0xffffffffu, mine.logit, offset),
                       __shfl_xor_sync(0xffffffffu, mine.id, offset)};
    if (other.before(mine)) mine = other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
  __syncthreads();
  Ranked first = partial[0];
  for (int warp = 1; warp < kWarps; ++warp) {
    if (partial[warp].before(first)) first = partial[warp];
  }
  return first;
}

__device__ float block_sum(float value) {
  __shared__ float partial[kWarps];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0;
  for (int warp = 0; warp < kWarps; ++warp) total += partial[warp];
  return total;
}

// One block per row; the row lies in the L2 cache, so it is read once for every token that is wanted.
__global__ void __launch_bounds__(kThreads)
    top_tokens_kernel(TopTokensArgs args, DeviceNotFinite not_finite) {
  const float* logits = args.logits + blockIdx.x * args.vocabulary;
  const auto count = static_cast<std::int32_t>(args.vocabulary);
  Ranked last{INFINITY, -1};
  float largest = 0, sum = 0;
  for (std::int64_t k = 0; k < args.top; ++k) {
    Ranked mine{-INFINITY, INT32_MAX};
    for (std::int32_t id = threadIdx.x; id < count; id += kThreads) {
      const Ranked one{logits[id], id};
      if (last.before(one) && one.before(mine)) mine = one;
    }
    last = block_first(mine);
    if (k == 0) {
      largest = last.logit;
      for (std::int32_t id = threadIdx.x; id < count; id += kThreads) sum += expf(logits[id] - largest);
      sum = block_sum(sum);
      // A NaN or an infinity among the logits makes the sum a NaN.
      if (not_finite.flag != nullptr && threadIdx.x == 0 && !isfinite(sum))
        atomicMin(not_finite.flag, not_finite.code);
    }
    if (threadIdx.x == 0) {
      args.tokens[blockIdx.x * args.top + k] = last.id;
      args.probabilities[blockIdx.x * args.top + k] = expf(last.logit - largest) / sum;
    }
  }
}

}  // namespace

void top_tokens_cuda(const Stream& stream, const TopTokensArgs& args, const DeviceNotFinite& not_finite) {
  BUOY_CHECK(args.top >= 1 && args.top <= args.vocabulary);
  if (args.rows == 0) return;
  top_tokens_kernel<<<static_cast<unsigned>(args.rows), kThreads, 0,
                      static_cast<cudaStream_t>(stream.handle())>>>(args, not_finite);
  check_launch("top_tokens");
}

}  // namespace buoy::ops

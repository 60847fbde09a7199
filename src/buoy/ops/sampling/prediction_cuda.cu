#include "buoy/base/error.h"
#include "buoy/ops/sampling/prediction.h"
#include "buoy/ops/sampling/prediction_cuda.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 512, kWarps = kThreads / 32;

struct Candidate {
  float logit;
  std::int32_t id;

  // Larger logits first, lower ids first among equals.
  __device__ bool before(const Candidate& other) const {
    return logit > other.logit || (logit == other.logit && id < other.id);
  }
};

__device__ Candidate first_of(Candidate a, const Candidate& b) {
  return b.before(a) ? b : a;
}

__device__ Candidate block_first(Candidate own) {
  __shared__ Candidate partial[kWarps];
  for (int offset = 16; offset > 0; offset /= 2)
    own = first_of(
        own, {__shfl_xor_sync(0xffffffffu, own.logit, offset), __shfl_xor_sync(0xffffffffu, own.id, offset)});
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = own;
  __syncthreads();
  Candidate first = partial[0];
  for (int warp = 1; warp < kWarps; ++warp) first = first_of(first, partial[warp]);
  return first;
}

__device__ double block_sum(double value) {
  __shared__ double partial[kWarps];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  double total = 0;
  for (int warp = 0; warp < kWarps; ++warp) total += partial[warp];
  return total;
}

// The first of those that come behind `last`; an id of INT32_MAX when there is none.
__device__ Candidate next_behind(const float* row, std::int32_t vocabulary, const Candidate& last) {
  Candidate own{-INFINITY, INT32_MAX};
  for (std::int32_t id = threadIdx.x; id < vocabulary; id += kThreads) {
    const Candidate one{row[id], id};
    if (last.before(one)) own = first_of(own, one);
  }
  return block_first(own);
}

// One block per row. The row is read once for each named token and once for the sums: it stays in the cache.
__global__ void __launch_bounds__(kThreads) predict_kernel(DevicePredictionArgs args) {
  const std::int64_t number = blockIdx.x;
  const float* row = args.logits + number * args.vocabulary;
  const auto vocabulary = static_cast<std::int32_t>(args.vocabulary);
  const Candidate top = next_behind(row, vocabulary, {INFINITY, -1});
  double own_sum = 0, own_below = 0;
  for (std::int32_t id = threadIdx.x; id < vocabulary; id += kThreads) {
    const double x = static_cast<double>(row[id]) - top.logit, weight = exp(x);
    own_sum += weight;
    own_below -= weight > 0 ? x * weight : 0.0;
  }
  const double sum = block_sum(own_sum), below = block_sum(own_below);
  const std::int32_t held = args.held[number];
  Candidate last = top;
  double second = 0;
  const auto named = static_cast<int>(args.top < 2 ? 2 : args.top);
  for (int i = 0; i < named; ++i) {
    if (i > 0) last = next_behind(row, vocabulary, last);
    const bool there = i < vocabulary;
    const double p = there ? exp(static_cast<double>(last.logit) - top.logit) / sum : 0.0;
    if (i == 1) second = p;
    if (threadIdx.x != 0 || i >= args.top) continue;
    args.tokens[number * args.top + i] = there ? last.id : kNoToken;
    args.probabilities[number * args.top + i] = static_cast<float>(p);
  }
  if (threadIdx.x != 0) return;
  float* values = args.values + number * 3;
  values[0] = static_cast<float>(held < 0 ? 1 / sum : exp(static_cast<double>(row[held]) - top.logit) / sum);
  values[1] = static_cast<float>(log(sum) + below / sum);
  values[2] = static_cast<float>(1 / sum - second);
}

}  // namespace

void predict_cuda(const Stream& stream, const DevicePredictionArgs& args) {
  BUOY_CHECK(args.vocabulary > 0 && args.vocabulary < INT32_MAX && args.top >= 0);
  if (args.rows == 0) return;
  predict_kernel<<<static_cast<unsigned>(args.rows), kThreads, 0,
                   static_cast<cudaStream_t>(stream.handle())>>>(args);
  check_launch("predict");
}

}  // namespace buoy::ops

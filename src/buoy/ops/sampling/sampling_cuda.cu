#include "buoy/base/error.h"
#include "buoy/ops/device/largest_cuda.cuh"
#include "buoy/ops/device/philox.cuh"
#include "buoy/ops/sampling/sampling_cuda.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 512;
constexpr double kDropped = -INFINITY;

// The largest score so far, ties to the lower id, and the second largest.
struct Best {
  double score = kDropped, second = kDropped;
  std::int32_t id = INT32_MAX;

  __device__ void offer(const Best& other) {
    const bool wins = goes_before(other.score, other.id, score, id);
    second = wins ? fmax(score, other.second) : fmax(second, other.score);
    if (wins) {
      score = other.score;
      id = other.id;
    }
  }
  __device__ Best shuffled(int offset) const {
    return {ops::shuffled(score, offset), ops::shuffled(second, offset), ops::shuffled(id, offset)};
  }
};

__device__ Best block_best(const Best& own) {
  return block_join<kThreads>(own, [](Best best, const Best& other) {
    best.offer(other);
    return best;
  });
}

// One row as its rule sees it.
struct Row {
  const float* logits;
  const ChoiceRule& rule;

  __device__ double candidate(std::int32_t id) const {
    return id == rule.forbidden ? kDropped : logits[id] / rule.temperature;
  }
  __device__ double measured(std::int32_t id) const {
    return id == rule.unmeasured[0] || id == rule.unmeasured[1] ? kDropped : candidate(id);
  }
  __device__ double noisy(std::int32_t id) const {
    const uint4 counter = make_uint4(static_cast<std::uint32_t>(id), rule.address.position, rule.address.step,
                                     static_cast<std::uint32_t>(rule.address.stream));
    const double u = unit_double(philox(rule.seed, counter));
    return candidate(id) + rule.noise * (u == 0 ? kDropped : -log(-log(u)));
  }
};

// The id that a draw falls on: every thread sums a stretch of ids, and the one whose stretch holds the target
// walks it in the order of the CPU.
__device__ std::int32_t proportional(const Row& row, std::int32_t vocabulary, double top, double sum) {
  __shared__ double before[kThreads];
  __shared__ std::int32_t chosen;
  const std::int32_t stretch = (vocabulary + kThreads - 1) / kThreads;
  const std::int32_t begin = min(vocabulary, static_cast<std::int32_t>(threadIdx.x) * stretch);
  const std::int32_t end = min(vocabulary, begin + stretch);
  double own = 0;
  for (std::int32_t id = begin; id < end; ++id) own += exp(row.candidate(id) - top) / sum;
  before[threadIdx.x] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    double running = 0;
    for (int t = 0; t < kThreads; ++t) {
      const double next = running + before[t];
      before[t] = running;
      running = next;
    }
    chosen = -1;
  }
  __syncthreads();
  const ChoiceRule& rule = row.rule;
  const double target =
      unit_double(philox(rule.seed, make_uint4(rule.address.index, rule.address.position, rule.address.step,
                                               static_cast<std::uint32_t>(rule.address.stream))));
  const double upper = threadIdx.x + 1 < kThreads ? before[threadIdx.x + 1] : INFINITY;
  if (own > 0 && before[threadIdx.x] <= target && target < upper) {
    double running = before[threadIdx.x];
    std::int32_t last = begin;
    for (std::int32_t id = begin; id < end; ++id) {
      const double p = exp(row.candidate(id) - top) / sum;
      if (p <= 0) continue;
      running += p;
      last = id;
      if (running > target) break;
    }
    atomicMax(&chosen, last);
  }
  __syncthreads();
  return chosen;
}

__device__ double negative_entropy(const Row& row, std::int32_t vocabulary, double top, double sum) {
  double own = 0;
  for (std::int32_t id = threadIdx.x; id < vocabulary; id += kThreads) {
    const double p = exp(row.measured(id) - top) / sum;
    own += p * log(p + 1e-10);
  }
  return block_sum<kThreads>(own);
}

// The largest of what is measured and the sum of exponentials below it, for rows at temperature 1 chosen from
// without noise: floats are compared as they are, and exp is float's (a relative error of 1e-7 in a
// confidence; the rounding of bf16 logits is 10,000 times that). Everything else goes through double, element
// by element.
__device__ Best plain_best(const Row& row, std::int32_t vocabulary, bool skip_unmeasured, bool& finite) {
  float score = -INFINITY, second = -INFINITY;
  std::int32_t best = INT32_MAX;
  const std::int32_t skip0 = row.rule.forbidden, skip1 = skip_unmeasured ? row.rule.unmeasured[0] : -1,
                     skip2 = skip_unmeasured ? row.rule.unmeasured[1] : -1;
#pragma unroll 8
  for (std::int32_t id = threadIdx.x; id < vocabulary; id += kThreads) {
    const float logit = row.logits[id];
    finite &= isfinite(logit);
    if (id == skip0 || id == skip1 || id == skip2) continue;
    second = fmaxf(second, fminf(score, logit));
    if (logit > score) {
      score = logit;
      best = id;
    }
  }
  return block_best({score, second, best});
}

__device__ double plain_sum(const Row& row, std::int32_t vocabulary, double top) {
  const float peak = static_cast<float>(top);
  const std::int32_t skip0 = row.rule.forbidden, skip1 = row.rule.unmeasured[0],
                     skip2 = row.rule.unmeasured[1];
  double own = 0;
#pragma unroll 8
  for (std::int32_t id = threadIdx.x; id < vocabulary; id += kThreads) {
    const bool counts = id != skip0 && id != skip1 && id != skip2;
    own += counts ? expf(row.logits[id] - peak) : 0.0f;
  }
  return block_sum<kThreads>(own);
}

// Both in one reading, where a row is read four numbers at a time: a running maximum rescales the sum.
__device__ Best plain_best_and_sum(const Row& row, std::int32_t vocabulary, bool& finite, double& sum) {
  float score = -INFINITY, second = -INFINITY;
  std::int32_t best = INT32_MAX;
  double own = 0;
  const auto* quads = reinterpret_cast<const float4*>(row.logits);
#pragma unroll 4
  for (std::int32_t i = threadIdx.x; i < vocabulary / 4; i += kThreads) {
    const float4 quad = __ldcs(quads + i);
    float logits[4] = {quad.x, quad.y, quad.z, quad.w};
    float largest = score;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      finite &= isfinite(logits[k]);
      if (4 * i + k == row.rule.forbidden) logits[k] = -INFINITY;
      second = fmaxf(second, fminf(largest, logits[k]));
      if (logits[k] > largest) {
        largest = logits[k];
        best = 4 * i + k;
      }
    }
    if (largest > score) own *= expf(score - largest);
    score = largest;
    if (score > -INFINITY)
      own += expf(logits[0] - score) + expf(logits[1] - score) + expf(logits[2] - score) +
             expf(logits[3] - score);
  }
  const Best all = block_best({score, second, best});
  sum = block_sum<kThreads>(score > -INFINITY ? own * exp(static_cast<double>(score) - all.score) : 0.0);
  return all;
}

// One block per row.
__global__ void __launch_bounds__(kThreads) choose_kernel(DeviceChoiceArgs args) {
  const ChoiceRule& rule = args.rules[blockIdx.x];
  const Row row{args.logits + blockIdx.x * args.vocabulary, rule};
  const auto vocabulary = static_cast<std::int32_t>(args.vocabulary);
  const bool plain = rule.temperature == 1 && rule.draw == ChoiceRule::Draw::kLargest;
  Best chosen, measured;
  double sum = 0;
  bool finite = true;
  const bool same = rule.unmeasured[0] < 0 && rule.unmeasured[1] < 0;
  if (plain && same && vocabulary % 4 == 0) {
    measured = chosen = plain_best_and_sum(row, vocabulary, finite, sum);
  } else if (plain) {
    chosen = plain_best(row, vocabulary, false, finite);
    measured = same ? chosen : plain_best(row, vocabulary, true, finite);
    sum = plain_sum(row, vocabulary, measured.score);
  } else {
    for (std::int32_t id = threadIdx.x; id < vocabulary; id += kThreads) {
      finite &= isfinite(row.logits[id]);
      const bool noisy = rule.draw == ChoiceRule::Draw::kNoisyLargest;
      chosen.offer({noisy ? row.noisy(id) : row.candidate(id), kDropped, id});
      measured.offer({row.measured(id), kDropped, id});
    }
    chosen = block_best(chosen);
    measured = block_best(measured);
    double own = 0;
    for (std::int32_t id = threadIdx.x; id < vocabulary; id += kThreads)
      own += exp(row.measured(id) - measured.score);
    sum = block_sum<kThreads>(own);
  }
  if (!finite) atomicMin(args.flag, args.code);

  std::int32_t token = chosen.id;
  if (rule.draw == ChoiceRule::Draw::kProportional) {
    const std::int32_t drawn = proportional(row, vocabulary, measured.score, sum);
    if (drawn >= 0) token = drawn;
  }
  // A row of NaNs has no largest number. The flag says so; nobody may read past the row.
  if (token >= vocabulary) token = 0;
  double confidence = 0;
  switch (rule.measure) {
    case ChoiceRule::Measure::kProbability:
      confidence = exp(row.measured(token) - measured.score) / sum;
      break;
    case ChoiceRule::Measure::kMargin:
      confidence = (1.0 - exp(measured.second - measured.score)) / sum;
      break;
    case ChoiceRule::Measure::kNegativeEntropy:
      confidence = negative_entropy(row, vocabulary, measured.score, sum);
      break;
  }
  if (threadIdx.x == 0) args.choices[blockIdx.x] = {confidence, token};
}

// One block per row, at least as many threads as most vocabularies have stretches.
__global__ void __launch_bounds__(kThreads) choose_best_kernel(DeviceBestArgs args) {
  const StretchBest* row = args.stretches + blockIdx.x * args.stretches_of_row;
  Best best;
  for (std::int64_t i = threadIdx.x; i < args.stretches_of_row; i += kThreads)
    best.offer({row[i].largest, row[i].second, row[i].id});
  best = block_best(best);
  double own = 0;
  for (std::int64_t i = threadIdx.x; i < args.stretches_of_row; i += kThreads)
    own += row[i].sum * exp(row[i].largest - best.score);
  const double sum = block_sum<kThreads>(own);
  if (threadIdx.x != 0) return;
  const bool margin = args.rules[blockIdx.x].measure == ChoiceRule::Measure::kMargin;
  args.choices[blockIdx.x] = {(margin ? 1.0 - exp(best.second - best.score) : 1.0) / sum, best.id};
}

}  // namespace

void choose_best_cuda(const Stream& stream, const DeviceBestArgs& args) {
  if (args.rows == 0) return;
  choose_best_kernel<<<static_cast<unsigned>(args.rows), kThreads, 0,
                       static_cast<cudaStream_t>(stream.handle())>>>(args);
  check_launch("choose_best");
}

void choose_cuda(const Stream& stream, const DeviceChoiceArgs& args) {
  BUOY_CHECK(args.vocabulary > 0 && args.vocabulary <= INT32_MAX);
  if (args.rows == 0) return;
  choose_kernel<<<static_cast<unsigned>(args.rows), kThreads, 0,
                  static_cast<cudaStream_t>(stream.handle())>>>(args);
  check_launch("choose");
}

}  // namespace buoy::ops

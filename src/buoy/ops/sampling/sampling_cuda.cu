#include "buoy/base/error.h"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/device/philox.cuh"
#include "buoy/ops/sampling/sampling_best_cuda.cuh"
#include "buoy/ops/sampling/sampling_cuda.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = kChoiceThreads;
constexpr double kDropped = -INFINITY;
// Up to this many rows each is divided among the blocks of a cluster, else there are enough of them.
constexpr std::int64_t kMostDividedRows = 64;

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

// The largest of what is measured and the sum of exponentials below it, in floats as in best_of_stretch(),
// where some ids are chosen from but not measured. What is not at temperature 1 or noisy goes through double,
// element by element.
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

// The blocks of a cluster per row. Those behind the first help where the rule is plain and leaves no id out.
__global__ void __launch_bounds__(kThreads, 2) choose_kernel(DeviceChoiceArgs args, int parts) {
  __shared__ DividedRow::Shared shared;
  launch_dependents();
  const int number = static_cast<int>(blockIdx.x) / parts, part = static_cast<int>(blockIdx.x) % parts;
  const ChoiceRule& rule = args.rules[number];
  const Row row{args.logits + number * args.vocabulary, rule};
  const auto vocabulary = static_cast<std::int32_t>(args.vocabulary);
  const bool plain = rule.temperature == 1 && rule.draw == ChoiceRule::Draw::kLargest,
             same = rule.unmeasured[0] < 0 && rule.unmeasured[1] < 0, divided = plain && same;
  if (part > 0 && !divided) return;
  Best chosen, measured;
  double sum = 0;
  bool finite = true;
  if (divided) {
    const DividedRow together(shared, parts, part);
    const Stretch stretch = together.stretch(vocabulary, rule.forbidden);
    wait_for_prior_grid();
    together.leave(vocabulary % 4 == 0 ? best_of_stretch<true>(row.logits, stretch, finite)
                                       : best_of_stretch<false>(row.logits, stretch, finite));
    if (!finite) atomicMin(args.flag, args.code);
    if (part > 0) return;
    const BestAndSum all = together.join();
    measured = chosen = all.best;
    sum = all.sum;
  } else if (plain) {
    wait_for_prior_grid();
    chosen = plain_best(row, vocabulary, false, finite);
    measured = plain_best(row, vocabulary, true, finite);
    sum = plain_sum(row, vocabulary, measured.score);
  } else {
    wait_for_prior_grid();
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
      confidence = (token == measured.id ? 1.0 : exp(row.measured(token) - measured.score)) / sum;
      break;
    case ChoiceRule::Measure::kMargin:
      confidence = (1.0 - exp(measured.second - measured.score)) / sum;
      break;
    case ChoiceRule::Measure::kNegativeEntropy:
      confidence = negative_entropy(row, vocabulary, measured.score, sum);
      break;
  }
  if (threadIdx.x == 0) args.choices[number] = {confidence, token};
}

// One block per row, at least as many threads as most vocabularies have stretches.
__global__ void __launch_bounds__(kThreads) choose_best_kernel(DeviceBestArgs args) {
  const auto [best, sum] =
      join_stretches(args.stretches + blockIdx.x * args.stretches_of_row, args.stretches_of_row);
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
  BUOY_CHECK(args.vocabulary > 0 && args.vocabulary <= std::int64_t{1} << 30);
  if (args.rows == 0) return;
  const bool hopper = gpu().major >= 9;
  const int parts = hopper && args.rows <= kMostDividedRows ? DividedRow::kMostParts : 1;
  launch_kernel({.grid = dim3(static_cast<unsigned>(args.rows * parts)),
                 .block = kThreads,
                 .cluster = static_cast<unsigned>(parts),
                 .early = hopper},
                stream, "choose", choose_kernel, args, parts);
}

}  // namespace buoy::ops

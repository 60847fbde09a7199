#pragma once

#include <span>
#include <string>
#include <utility>

#include "buoy/base/file/json_file.h"
#include "buoy/benchmark/machine.h"
#include "buoy/benchmark/timed_model.h"
#include "buoy/benchmark/watch.h"

namespace buoy::benchmark {

// Sequences of one length, every position wanted.
struct StepShape {
  std::int64_t sequences = 1, tokens = 0;
};

struct StepResult {
  StepShape shape;
  std::string observed;  // "" when nobody watched
  double seconds = 0;    // median of whole steps, host work included
  double flops = 0;      // of the matrix products and the attention of one step
  std::uint64_t extra_bytes = 0;
};

// Multiplications and additions of one forward; `logit_rows` of each sequence.
double step_flops(const ModelConfig& config, const StepShape& shape, std::int64_t logit_rows);

// Repeats the step for at least half a second.
StepResult time_step(const Context& context, TimedModel& model, const StepShape& shape);
// Unobserved and observed steps in turn, for at least two seconds.
std::pair<StepResult, StepResult> time_observed_step(const Context& context, TimedModel& model,
                                                     const StepShape& shape, const Observed& observed);

// One line; `unobserved` null: no cost of observing.
std::string describe(const StepResult& result, const MachineLimits& limits, std::uint64_t weight_bytes,
                     const StepResult* unobserved);
// Of one step or more, beside machine.h's held_product_flops().
std::string describe_held(double held_flops, std::span<const StepResult> steps);
Json as_json(const StepResult& result, const MachineLimits& limits, std::uint64_t weight_bytes,
             const StepResult* unobserved);

}  // namespace buoy::benchmark

#include "buoy/benchmark/steps.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "buoy/base/progress.h"
#include "buoy/benchmark/timing.h"

namespace buoy::benchmark {
namespace {

constexpr int kRepetitions = 15;
constexpr double kTurnSeconds = 2;  // of two steps in turn: their difference is small

struct Batch {
  Batch(const ModelConfig& config, const StepShape& shape) {
    for (std::int64_t i = 0; i < shape.tokens; ++i) rows.push_back(static_cast<std::int32_t>(i));
    for (std::int64_t n = 0; n < shape.sequences; ++n) {
      auto& ids = tokens.emplace_back();
      for (std::int64_t i = 0; i < shape.tokens; ++i)
        ids.push_back(static_cast<std::int32_t>((n * 7919 + i * 104729) % config.vocabulary));
    }
    for (const auto& ids : tokens) inputs.push_back({ids, rows, nullptr, {}});
  }
  std::vector<std::int32_t> rows;
  std::vector<std::vector<std::int32_t>> tokens;
  std::vector<model::SequenceInput> inputs;
};

double tokens_per_second(const StepResult& r) {
  return static_cast<double>(r.shape.sequences * r.shape.tokens) / r.seconds;
}

// Every weight is read once in a step.
double weight_share(const StepResult& r, const MachineLimits& limits, std::uint64_t weight_bytes) {
  return static_cast<double>(weight_bytes) / r.seconds / limits.copy_bytes;
}

}  // namespace

double step_flops(const ModelConfig& c, const StepShape& shape, std::int64_t logit_rows) {
  const double rows = static_cast<double>(shape.sequences * shape.tokens);
  const double hidden = static_cast<double>(c.hidden), layers = static_cast<double>(c.layers);
  const double queries = static_cast<double>(c.heads * c.head_dim),
               keys = static_cast<double>(c.kv_heads * c.head_dim);
  double mlps = 0;  // of all layers, the numbers that a token meets
  for (std::int64_t layer = 0; layer < c.layers; ++layer) {
    mlps += is_mixture(c, layer)
                ? static_cast<double>(3 * (c.experts->chosen * c.experts->width + c.experts->shared_width) +
                                      c.experts->count)
                : static_cast<double>(3 * c.mlp_hidden);
  }
  const double weights = hidden * (2 * queries + 2 * keys);
  const double head = hidden * static_cast<double>(shape.sequences * logit_rows * c.vocabulary);
  return layers * (2 * rows * weights + 4 * queries * rows * static_cast<double>(shape.tokens)) +
         2 * rows * hidden * mlps + 2 * head;
}

StepResult time_step(const Context& context, TimedModel& model, const StepShape& shape) {
  const Batch batch(model.config(), shape);
  StepResult out{shape, "", 0, step_flops(model.config(), shape, shape.tokens), 0};
  out.seconds = median_seconds([&] { model.step(context, batch.inputs, nullptr); }, kRepetitions);
  out.extra_bytes = model.extra_bytes(context, batch.inputs, nullptr);
  return out;
}

std::pair<StepResult, StepResult> time_observed_step(const Context& context, TimedModel& model,
                                                     const StepShape& shape, const Observed& observed) {
  const Batch batch(model.config(), shape);
  Watch watch(observed);
  const double flops = step_flops(model.config(), shape, shape.tokens);
  std::pair<StepResult, StepResult> out{{shape, "", 0, flops, 0}, {shape, observed.name, 0, flops, 0}};
  // On a GPU memory only grows, so the unobserved step comes first.
  model.step(context, batch.inputs, nullptr);
  out.first.extra_bytes = model.extra_bytes(context, batch.inputs, nullptr);
  const TwoTimes times =
      median_seconds_in_turn([&] { model.step(context, batch.inputs, nullptr); },
                             [&] { model.step(context, batch.inputs, &watch); }, kRepetitions, kTurnSeconds);
  out.first.seconds = times.one;
  out.second.seconds = times.other;
  out.second.extra_bytes = model.extra_bytes(context, batch.inputs, &watch);
  return out;
}

std::string describe(const StepResult& r, const MachineLimits& limits, std::uint64_t weight_bytes,
                     const StepResult* unobserved) {
  return fmt::format(
      "{:>3} x {:>5} tokens, {:<10} {:>9.2f} ms, {:>7.0f} tokens/s, {:>5.1f}% of the product rate, weights "
      "at "
      "{:>5.1f}% of the copy rate, {} beside them{}",
      r.shape.sequences, r.shape.tokens, r.observed.empty() ? "unobserved" : r.observed, r.seconds * 1e3,
      tokens_per_second(r), 100 * r.flops / r.seconds / limits.product_flops,
      100 * weight_share(r, limits, weight_bytes), describe_bytes(r.extra_bytes),
      unobserved != nullptr ? fmt::format(", {:+.1f}%", 100 * (r.seconds / unobserved->seconds - 1)) : "");
}

std::string describe_held(double held_flops, std::span<const StepResult> steps) {
  const auto share = [&](const StepResult& r) { return 100 * r.flops / r.seconds / held_flops; };
  const auto [least, most] = std::minmax_element(
      steps.begin(), steps.end(), [&](const auto& a, const auto& b) { return share(a) < share(b); });
  return fmt::format("held for two seconds the product runs at {}: the steps are at {:.1f} to {:.1f}% of it",
                     describe_rate(held_flops, "FLOP"), share(*least), share(*most));
}

Json as_json(const StepResult& r, const MachineLimits& limits, std::uint64_t weight_bytes,
             const StepResult* unobserved) {
  Json out = {{"sequences", r.shape.sequences},
              {"tokens", r.shape.tokens},
              {"observed", r.observed},
              {"seconds", r.seconds},
              {"tokens_per_second", tokens_per_second(r)},
              {"flops_per_second", r.flops / r.seconds},
              {"share_of_product_rate", r.flops / r.seconds / limits.product_flops},
              {"weight_share_of_copy_rate", weight_share(r, limits, weight_bytes)},
              {"extra_bytes", r.extra_bytes}};
  if (unobserved != nullptr) out["cost_of_observing"] = r.seconds / unobserved->seconds - 1;
  return out;
}

}  // namespace buoy::benchmark

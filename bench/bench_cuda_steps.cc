#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/bench_cuda.h"
#include "buoy/base/progress.h"
#include "buoy/benchmark/steps.h"

namespace buoy::bench {
namespace {

constexpr benchmark::Observed kPieces[] = {
    {"received", [](probe::LayerRequest& r) { r.received = true; }},
    {"entropy", [](probe::LayerRequest& r) { r.entropy = true; }},
    {"32 rows", [](probe::LayerRequest& r) { r.row_weights = true; }},
    {"followed", [](probe::LayerRequest& r) { r.followed = probe::FollowedRows::kAll; }},
    {"head norms", [](probe::LayerRequest& r) { r.head_norm = true; }},
    {"QK after", [](probe::LayerRequest& r) { r.qk_after = true; }},
    {"QK moments", [](probe::LayerRequest& r) { r.qk_after = r.qk_before = true; }}};

}  // namespace

Json bench_cuda_steps(const Context& context, const benchmark::MachineLimits& limits,
                      const CudaBenchOptions& options) {
  const auto model = benchmark::random_model(benchmark::llada_8b(), Device::kCuda, options.timed_candidates);
  Json out = Json::array();
  std::vector<benchmark::StepResult> results;
  const auto add = [&](const benchmark::StepResult& result, const benchmark::StepResult* unobserved) {
    fmt::print("{}\n", describe(result, limits, model->weight_bytes(), unobserved));
    std::fflush(stdout);
    out.push_back(as_json(result, limits, model->weight_bytes(), unobserved));
    results.push_back(result);
  };
  fmt::print("LLaDA-8B shape, random weights ({}), all positions chosen from\n",
             describe_bytes(model->weight_bytes()));
  for (const int length : options.lengths) {
    const auto [unobserved, observed] =
        benchmark::time_observed_step(context, *model, {1, length}, benchmark::kEverything);
    add(unobserved, nullptr);
    add(observed, &unobserved);
    for (const auto& piece : kPieces) {
      if (!options.pieces) break;
      const auto [beside, alone] = benchmark::time_observed_step(context, *model, {1, length}, piece);
      add(alone, &beside);
    }
  }
  add(benchmark::time_step(context, *model, {16, 512}), nullptr);
  const double held = benchmark::held_product_flops(context, Device::kCuda);
  fmt::print("{}\n", describe_held(held, results));
  return {{"steps", out}, {"held_product_flops_per_second", held}};
}

}  // namespace buoy::bench

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "bench/measure.h"
#include "buoy/base/progress.h"
#include "buoy/benchmark/peak_memory.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/benchmark/watch.h"
#include "buoy/model/model.h"

namespace buoy::bench {
namespace {

namespace fs = std::filesystem;

using benchmark::Observed;

constexpr Observed kStatistics[] = {
    {"received by 13 groups", [](probe::LayerRequest& r) { r.received = true; }},
    {"entropy, log-sum-exp, first share",
     [](probe::LayerRequest& r) { r.entropy = r.log_sum_exp = r.first_share = true; }},
    {"32 whole rows", [](probe::LayerRequest& r) { r.row_weights = true; }},
    {"8 top keys of 32 rows", [](probe::LayerRequest& r) { r.top = 8; }},
    {"QK moments, before and after", [](probe::LayerRequest& r) { r.qk_after = r.qk_before = true; }},
    {"norms", [](probe::LayerRequest& r) { r.norms = r.value_norm = true; }},
};

void ask_for_all(probe::LayerRequest& request) {
  for (const auto& statistic : kStatistics) statistic.ask(request);
}

// A forward, unobserved and with each statistic: time as a ratio, and the most memory held beyond what the
// unobserved forward needs.
struct ModelCase {
  const char* name;
  benchmark::ShapeOfModel shape;
  std::vector<int> lengths;
};

void bench_model(const Context& context, const ModelCase& c, const Report& report) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("buoy-bench-observe-{}", ::getpid());
  benchmark::write_random_checkpoint(folder, c.shape, 1);
  model::Model model = model::Model::load(folder);
  for (const int tokens : c.lengths) {
    std::vector<std::int32_t> ids(static_cast<size_t>(tokens));
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 1000);
    const std::vector<model::SequenceInput> inputs = {{ids, {}}};
    const auto run = [&](probe::Probe* probe) { model.forward(context, inputs, probe); };
    const double plain = median_seconds([&] { run(nullptr); });
    report({fmt::format("{}, unobserved, T = {}", c.name, tokens), plain, 1, "x", 0});
    const auto observed = [&](const Observed& statistic) {
      benchmark::Watch watch(statistic);
      const double seconds = median_seconds([&] { run(&watch); });
      const std::uint64_t extra = benchmark::peak_extra_bytes([&] { run(&watch); });
      report({fmt::format("  {}: {} extra", statistic.name, describe_bytes(extra)), seconds, seconds / plain,
              "x", 0});
    };
    observed({"everything below", ask_for_all});
    for (const auto& statistic : kStatistics) observed(statistic);
  }
  fs::remove_all(folder);
}

}  // namespace

void bench_observe_block(const Context& context, const std::vector<int>& lengths, const Report& report) {
  benchmark::ShapeOfModel block = benchmark::llada_8b();
  block.layers = 1;
  block.vocabulary = 1024;
  bench_model(context, {"LLaDA-8B block", block, lengths}, report);
}

void bench_observe_small(const Context& context, const std::vector<int>& lengths, const Report& report) {
  bench_model(context, {"small model", benchmark::llada_small(), lengths}, report);
}

}  // namespace buoy::bench

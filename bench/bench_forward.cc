#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "bench/measure.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/benchmark/steps.h"
#include "buoy/model/model.h"

namespace buoy::bench {
namespace {

namespace fs = std::filesystem;

struct Case {
  const char* name;
  benchmark::ShapeOfModel shape;
};

}  // namespace

void bench_forward(const Context& context, double peak, const Report& report) {
  benchmark::ShapeOfModel block = benchmark::llada_8b();
  block.layers = 1;
  block.vocabulary = 1024;
  const Case cases[] = {{"one LLaDA-8B block, bf16", block},
                        {"small model, 12 layers of 256, bf16", benchmark::llada_small()}};
  const fs::path folder = fs::temp_directory_path() / fmt::format("buoy-bench-{}", ::getpid());
  for (const auto& [name, shape] : cases) {
    benchmark::write_random_checkpoint(folder, shape, 1);
    const double load = median_seconds([&] { model::Model::load(folder); });
    report({fmt::format("load: {}", name), load, load, "s", 0});
    model::Model model = model::Model::load(folder);
    for (const int tokens : {64, 256, 1024}) {
      std::vector<std::int32_t> ids(static_cast<size_t>(tokens));
      for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 1000);
      const std::vector<model::SequenceInput> inputs = {{ids, {}, nullptr}};
      const double seconds = median_seconds([&] { model.forward(context, inputs); });
      const double rate = benchmark::step_flops(model.config(), {1, tokens}, 0) / seconds / 1e9;
      report({fmt::format("forward: {}, T = {}", name, tokens), seconds, rate, "GFLOP/s", rate / peak});
    }
  }
  fs::remove_all(folder);
}

}  // namespace buoy::bench

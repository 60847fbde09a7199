// What looking at the residual stream and at predictions costs at the size of an 8B model.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include "bench/bench_cuda.h"
#include "buoy/benchmark/timed_model.h"
#include "buoy/benchmark/timing.h"
#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/tensor/device_memory.h"

namespace buoy::bench {
namespace {

using Rows = std::vector<std::int32_t>;

constexpr std::int64_t kRows = 32, kTop = 5;
constexpr int kRepetitions = 15;
constexpr double kTurnSeconds = 2;  // of two steps in turn: their difference is small

// The last rows of a forward, as those of an answer.
Rows last_rows(std::int64_t tokens, std::int64_t count) {
  Rows rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(tokens - count));
  return rows;
}

// Asks the same of all layers, and looks at what it gets as little as possible.
class Looking final : public probe::Probe {
 public:
  probe::ResidualRequest residual;
  probe::PredictionRequest predicted;

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override {
    probe::LayerRequest out;
    out.residual = residual;
    return out;
  }
  probe::PredictionRequest predictions(const probe::Address&, const probe::LayerExtent&) override {
    return predicted;
  }
  void take(const probe::Address&, probe::LayerRecord&&) override { ++records; }

  std::int64_t records = 0;
};

probe::PredictionRequest predictions_of(Rows rows) {
  probe::PredictionRequest out;
  out.held.assign(rows.size(), probe::PredictionRequest::kMostProbable);
  out.rows = std::move(rows);
  out.top = kTop;
  return out;
}

// Of the head for so many rows, alone on the card, weights and all from its memory.
double head_product_seconds(const ModelConfig& config) {
  const Stream stream;
  const auto numbers = [&](std::int64_t count) { return benchmark::NormalOnDevice(stream, count, 0.01); };
  const auto input = numbers(kRows * config.hidden), weight = numbers(config.hidden * config.vocabulary);
  const DeviceMemory logits(static_cast<size_t>(kRows * config.vocabulary) * sizeof(float));
  ops::DeviceLinear linear;
  return benchmark::device_seconds(stream, [&] {
    linear.multiply(stream, {.input = input.get(),
                             .rows = kRows,
                             .weight = weight.get(),
                             .inputs = config.hidden,
                             .outputs = config.vocabulary,
                             .output = logits.data(),
                             .kind = ops::LinearOutput::kFloat});
  });
}

class Measurement {
 public:
  Measurement(const Context& context, benchmark::TimedModel& model, std::int64_t tokens)
      : context_(context), model_(model), wanted_(last_rows(tokens, kRows)) {
    for (std::int64_t i = 0; i < tokens; ++i)
      tokens_.push_back(static_cast<std::int32_t>(i * 104729 % model.config().vocabulary));
    inputs_.push_back({tokens_, wanted_, nullptr, {}});
  }

  // Steps with and without the probe, in turn.
  benchmark::TwoTimes run(Looking& probe) {
    return benchmark::median_seconds_in_turn([&] { model_.step(context_, inputs_, nullptr); },
                                             [&] { model_.step(context_, inputs_, &probe); }, kRepetitions,
                                             kTurnSeconds);
  }

  // `limit` in percent; 0: none was set.
  void report(const char* name, Looking probe, double limit) {
    const auto [alone, observed] = run(probe);
    const double cost = 100 * (observed / alone - 1);
    fmt::print("{:<58} {:>8.3f} ms, unobserved {:.3f} ms: {:+.2f}%{}\n", name, observed * 1e3, alone * 1e3,
               cost,
               limit > 0 ? fmt::format(" (limit {}%: {})", limit, cost <= limit ? "held" : "MISSED") : "");
    std::fflush(stdout);
    results.push_back({{"what", name},
                       {"tokens", tokens_.size()},
                       {"seconds", observed},
                       {"unobserved_seconds", alone},
                       {"cost_percent", cost},
                       {"limit_percent", limit}});
  }

  void report_lens(double product_before) {
    Looking probe;
    probe.residual.rows = wanted_;
    probe.residual.lens = kTop;
    const auto [alone, observed] = run(probe);
    const auto layers = static_cast<double>(model_.config().layers);
    // The card may have slowed down meanwhile.
    const double product = std::max(product_before, 1e-9), layer = (observed - alone) / layers,
                 after = head_product_seconds(model_.config()), ratio = 2 * layer / (product + after);
    constexpr double kLimit = 1.3;
    fmt::print(
        "{:<58} {:>8.1f} us a layer, the head's product {:.1f} us before, {:.1f} us after: {:.3f} times "
        "(limit {}: {})\n",
        "logit lens of all layers, 32 rows, 5 tokens", layer * 1e6, product * 1e6, after * 1e6, ratio, kLimit,
        ratio <= kLimit ? "held" : "MISSED");
    std::fflush(stdout);
    results.push_back({{"what", "lens"},
                       {"tokens", tokens_.size()},
                       {"seconds_of_a_layer", layer},
                       {"product_seconds", {product, after}},
                       {"ratio", ratio},
                       {"limit", kLimit}});
  }

  const Rows& wanted() const { return wanted_; }
  Json results = Json::array();

 private:
  const Context& context_;
  benchmark::TimedModel& model_;
  Rows wanted_;
  std::vector<std::int32_t> tokens_;
  std::vector<model::SequenceInput> inputs_;
};

}  // namespace

Json bench_cuda_residual(const Context& context, const CudaBenchOptions& options) {
  const auto model = benchmark::random_model(benchmark::llada_8b(), Device::kCuda, options.timed_candidates);
  Json out = Json::array();
  for (const int length : options.lengths) {
    fmt::print("LLaDA-8B shape, random weights, {} tokens, the last {} chosen from\n", length, kRows);
    Measurement measurement(context, *model, length);
    const double product = head_product_seconds(model->config());
    measurement.report_lens(product);

    Looking states;
    states.residual.rows = measurement.wanted();
    states.residual.post = true;
    measurement.report("states behind every layer, 32 rows", states, 3);
    states.residual.pre = states.residual.mid = states.residual.attention_out = states.residual.mlp_out =
        states.residual.head_out = states.residual.norms = true;
    measurement.report("all points of the stream, heads and norms, 32 rows", states, 0);

    Looking predicting;
    predicting.predicted = predictions_of(measurement.wanted());
    measurement.report("predictions, 32 rows", predicting, 0);
    predicting.predicted = predictions_of(last_rows(length, length));
    measurement.report("predictions, all rows", predicting, 0);
    for (auto& one : measurement.results) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace buoy::bench

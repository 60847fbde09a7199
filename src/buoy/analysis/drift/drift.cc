#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/drift/drift_map.h"
#include "buoy/analysis/drift/drift_series.h"
#include "buoy/analysis/drift/drift_tables.h"
#include "buoy/base/error.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// The largest of the positions that are not masked; NaN when all are.
double top_of(std::span<const double> received, const std::vector<std::uint8_t>& masked) {
  double best = -1, at = stats::kNan;
  for (size_t j = 0; j < received.size(); ++j) {
    if (masked[j] != 0 || received[j] <= best) continue;
    best = received[j];
    at = static_cast<double>(j);
  }
  return at;
}

// The series of one sample: of every layer, of the mean over heads (entry 0) and of each head, over all
// positions and over those already unmasked. A few numbers per position: the last step it was in a set.
class DriftSample final : public SampleAnalysis {
 public:
  using Scalars = std::array<double, kDriftScalars>;

  explicit DriftSample(const SampleFacts& sample)
      : series_(sample.layers.size()), scalars_(sample.layers.size()) {
    for (auto& layer : series_) {
      layer.resize(static_cast<size_t>(sample.heads) + 1);
      for (auto& both : layer) {
        for (auto& series : both) series.reset(sample.tokens);
      }
    }
  }

  void draw(const SampleFacts& sample, const LayerAxis& axis, const AnalysisOptions& options) {
    panels.emplace(sample, axis, options);
  }

  void take(const LayerView& layer) override {
    if (!layer.forward.is_step) return;
    for (std::int64_t h = -1; h < layer.sample.heads; ++h) add_step(layer, h);
    if (panels) panels->take(layer);
  }

  void finish_layer(const ObservedSample& sample, std::int64_t l) override {
    const Frontier frontier = frontier_of(sample);
    auto& out = scalars_[static_cast<size_t>(l)];
    for (const auto& both : series_[static_cast<size_t>(l)]) {
      for (const auto& series : both) out.push_back(series.scalars(frontier));
    }
    series_[static_cast<size_t>(l)] = {};
  }

  // [1 + heads, positions]
  const std::vector<Scalars>& scalars(std::int64_t l) const { return scalars_[static_cast<size_t>(l)]; }

  std::optional<DriftPanels> panels;

 private:
  using Both = std::array<DriftSeries, kDriftPositions>;

  void add_step(const LayerView& layer, std::int64_t head) {
    Both& series = series_[static_cast<size_t>(layer.l)][static_cast<size_t>(head + 1)];
    Detection& found = layer.detection();
    const auto& masked = layer.forward.masked;
    const auto unmasked = std::count(masked.begin(), masked.end(), 0);
    for (size_t r = 0; r < kDriftRules.size(); ++r) {
      Anchors anchors = found.anchors(head, kDriftRules[r]);
      series[kAllPositions].add_set(r, anchors, layer.sample.tokens);
      std::erase_if(anchors.positions, [&](std::int32_t j) { return masked[static_cast<size_t>(j)] != 0; });
      series[kUnmaskedPositions].add_set(r, anchors, unmasked);
    }
    series[kAllPositions].add_top(static_cast<double>(found.top(head)));
    series[kUnmaskedPositions].add_top(top_of(found.received(head), masked));
  }

  std::vector<std::vector<Both>> series_;      // [layers][1 + heads]
  std::vector<std::vector<Scalars>> scalars_;  // [layers]
};

class Drift final : public Analysis {
 public:
  Drift(const TraceFacts& facts, const AnalysisOptions& options)
      : options_(options), axis_(facts.manifest), map_(options) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_array(sample, trace::kReceived);
    axis_.take(sample);
    auto kept = std::make_unique<DriftSample>(sample);
    if (samples_ <= options_.sample && sample.number >= options_.sample) kept->draw(sample, axis_, options_);
    return kept;
  }

  void end(const ObservedSample& sample, SampleAnalysis& given) override {
    const auto& kept = dynamic_cast<const DriftSample&>(given);
    if (!state_) state_.emplace(axis_, options_);
    if (samples_++ == options_.sample) map_.draw(sample, axis_, kept.panels.value());
    for (std::int64_t l = 0; l < axis_.size(); ++l) {
      std::int64_t number = 0;
      for (const auto& scalars : kept.scalars(l)) {
        state_->take({l, number / kDriftPositions - 1, number % kDriftPositions}, scalars);
        ++number;
      }
    }
    state_->add_sample(sample.id(), axis_, reveal_order(sample));
  }

  std::vector<Table> tables() const override {
    if (samples_ > 0 && options_.sample >= samples_) {
      throw_usage_error({"sample", fmt::format("a number below {}, the samples of the trace", samples_),
                         std::to_string(options_.sample)});
    }
    auto tables = drift_tables(axis_, options_.rules(), state_ ? &*state_ : nullptr);
    for (auto& table : map_.tables()) tables.push_back(std::move(table));
    return tables;
  }

 private:
  AnalysisOptions options_;
  LayerAxis axis_;
  DriftMap map_;
  std::optional<DriftState> state_;
  std::int64_t samples_ = 0;
};

}  // namespace

std::unique_ptr<Analysis> make_drift(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Drift>(facts, options);
}

}  // namespace buoy::analysis

#include <fmt/format.h>

#include <algorithm>

#include <cmath>
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

class Drift final : public Analysis {
 public:
  Drift(const TraceFacts& facts, const AnalysisOptions& options)
      : rule_options_{options.epsilon, options.share_factor, options.mad_factor},
        options_(options),
        axis_(facts.manifest),
        map_(options) {}

  void add(const ObservedSample& sample) override {
    require_array(sample.stored(), trace::kReceived);
    axis_.take(sample);
    if (!state_) state_.emplace(axis_, options_);
    if (!detector_ || !detector_->fits(sample.causal, sample.tokens))
      detector_.emplace(sample.causal, sample.tokens, rule_options_);
    if (samples_++ == options_.sample) map_.draw(sample, axis_, *detector_);
    mark_masked(sample);
    const Frontier frontier = frontier_of(sample);
    for (std::int64_t l = 0; l < axis_.size(); ++l) {
      follow(sample, l);
      for (size_t h = 0; h < series_.size(); ++h) {
        for (std::int64_t p = 0; p < kDriftPositions; ++p)
          state_->take({l, static_cast<std::int64_t>(h) - 1, p},
                       series_[h][static_cast<size_t>(p)].scalars(frontier));
      }
    }
    state_->add_sample(sample.id(), axis_, reveal_order(sample));
  }

  std::vector<Table> tables() const override {
    if (samples_ > 0 && options_.sample >= samples_) {
      throw_usage_error({"sample", fmt::format("a number below {}, the samples of the trace", samples_),
                         std::to_string(options_.sample)});
    }
    auto tables = drift_tables(axis_, rule_options_, state_ ? &*state_ : nullptr);
    for (auto& table : map_.tables()) tables.push_back(std::move(table));
    return tables;
  }

 private:
  void mark_masked(const ObservedSample& sample) {
    masked_.assign(static_cast<size_t>(sample.step_count()), {});
    for (std::int64_t s = 0; s < sample.step_count(); ++s) {
      auto& row = masked_[static_cast<size_t>(s)];
      for (std::int64_t j = 0; j < sample.tokens; ++j) row.push_back(sample.masked_at(s, j));
    }
  }

  // Fills the series of one layer: entry 0 for the mean over heads, then one per head.
  void follow(const ObservedSample& sample, std::int64_t l) {
    series_.resize(static_cast<size_t>(sample.heads) + 1);
    for (auto& both : series_) {
      for (auto& series : both) series.reset(sample.tokens);
    }
    for (std::int64_t s = 0; s < sample.step_count(); ++s) {
      const Received received = sample.received(s, l);
      const auto& masked = masked_[static_cast<size_t>(s)];
      add_step(series_[0], received.mean, masked);
      for (std::int64_t h = 0; h < sample.heads; ++h) {
        add_step(series_[static_cast<size_t>(h) + 1],
                 {received.head(h), static_cast<size_t>(received.tokens)}, masked);
      }
    }
  }

  using Both = std::array<DriftSeries, kDriftPositions>;

  void add_step(Both& series, std::span<const double> received, const std::vector<std::uint8_t>& masked) {
    detector_->look(received);
    const auto unmasked = std::count(masked.begin(), masked.end(), 0);
    for (size_t r = 0; r < kDriftRules.size(); ++r) {
      detector_->find(kDriftRules[r], anchors_);
      series[kAllPositions].add_set(r, anchors_, static_cast<std::int64_t>(received.size()));
      std::erase_if(anchors_.positions, [&](std::int32_t j) { return masked[static_cast<size_t>(j)] != 0; });
      series[kUnmaskedPositions].add_set(r, anchors_, unmasked);
    }
    series[kAllPositions].add_top(static_cast<double>(detector_->top()));
    series[kUnmaskedPositions].add_top(top_of(received, masked));
  }

  RuleOptions rule_options_;
  AnalysisOptions options_;
  LayerAxis axis_;
  DriftMap map_;
  std::optional<AnchorDetector> detector_;
  Anchors anchors_;
  std::vector<Both> series_;
  std::vector<std::vector<std::uint8_t>> masked_;  // [steps][tokens], of the sample under way
  std::optional<DriftState> state_;
  std::int64_t samples_ = 0;
};

}  // namespace

std::unique_ptr<Analysis> make_drift(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Drift>(facts, options);
}

}  // namespace buoy::analysis

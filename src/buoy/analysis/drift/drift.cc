#include <fmt/format.h>

#include <algorithm>
#include <functional>
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
  explicit DriftSample(const SampleFacts& sample)
      : heads_(sample.heads),
        tokens_(sample.tokens),
        series_(sample.layers.size()),
        mean_(sample.layers.size() * kOfEach),
        by_head_(mean_.size() * static_cast<size_t>(sample.heads)) {}

  // Its maps, should it be drawn, or have been when its state was written.
  void can_draw(std::function<DriftPanels()> make) { make_panels_ = std::move(make); }
  void draw() { panels.emplace(make_panels_()); }

  void take(const LayerView& layer) override {
    if (!layer.forward.is_step) return;
    begin_layer(layer.l);
    for (std::int64_t h = -1; h < layer.sample.heads; ++h) add_step(layer, h);
    if (panels) panels->take(layer);
  }

  void finish_layer(const ObservedSample& sample, std::int64_t l) override {
    const Frontier frontier = frontier_of(sample);
    begin_layer(l);
    for (std::int64_t h = -1; h < heads_; ++h) {
      for (std::int64_t p = 0; p < kDriftPositions; ++p) {
        const auto& series = series_[static_cast<size_t>(l)][static_cast<size_t>(h + 1)];
        const auto scalars = series[static_cast<size_t>(p)].scalars(frontier);
        if (h < 0)
          std::copy(scalars.begin(), scalars.end(), mean_.begin() + place(l, h, p));
        else
          std::transform(scalars.begin(), scalars.end(), by_head_.begin() + place(l, h, p),
                         [](double value) { return static_cast<float>(value); });
      }
    }
    series_[static_cast<size_t>(l)] = {};
  }

  void state(StateArchive& archive) override {
    archive.numbers(mean_);
    archive.numbers(by_head_);
    bool drawn = panels.has_value();
    archive.flag(drawn);
    if (archive.reads() && drawn && !panels) draw();
    if (!drawn) panels.reset();
    if (panels) panels->state(archive);
  }

  std::array<double, kDriftScalars> scalars(const DriftState::Series& of) const {
    std::array<double, kDriftScalars> out{};
    const auto from = place(of.layer, of.head, of.positions);
    if (of.head < 0)
      std::copy_n(mean_.begin() + from, kDriftScalars, out.begin());
    else
      std::copy_n(by_head_.begin() + from, kDriftScalars, out.begin());
    return out;
  }

  std::optional<DriftPanels> panels;

 private:
  using Both = std::array<DriftSeries, kDriftPositions>;
  static constexpr auto kOfEach = static_cast<size_t>(kDriftPositions * kDriftScalars);

  std::ptrdiff_t place(std::int64_t l, std::int64_t head, std::int64_t positions) const {
    const std::int64_t of_layer = head < 0 ? l : l * heads_ + head;
    return (of_layer * kDriftPositions + positions) * kDriftScalars;
  }

  // Not before it is needed: a sample that is read from a state has no series.
  void begin_layer(std::int64_t l) {
    auto& layer = series_[static_cast<size_t>(l)];
    if (!layer.empty()) return;
    layer.resize(static_cast<size_t>(heads_) + 1);
    for (auto& both : layer) {
      for (auto& series : both) series.reset(tokens_);
    }
  }

  void add_step(const LayerView& layer, std::int64_t head) {
    Both& series = series_[static_cast<size_t>(layer.l)][static_cast<size_t>(head + 1)];
    Detection& found = layer.detection();
    const auto& masked = layer.forward.masked;
    const std::int64_t keys = layer.forward.reach.end;
    const auto unmasked = std::count(masked.begin(), masked.begin() + keys, 0);
    for (size_t r = 0; r < kDriftRules.size(); ++r) {
      Anchors anchors = found.anchors(head, kDriftRules[r]);
      series[kAllPositions].add_set(r, anchors, keys);
      std::erase_if(anchors.positions, [&](std::int32_t j) { return masked[static_cast<size_t>(j)] != 0; });
      series[kUnmaskedPositions].add_set(r, anchors, unmasked);
    }
    series[kAllPositions].add_top(static_cast<double>(found.top(head)));
    series[kUnmaskedPositions].add_top(top_of(found.received(head), masked));
  }

  std::int64_t heads_, tokens_;
  std::function<DriftPanels()> make_panels_;
  std::vector<std::vector<Both>> series_;  // [layers][1 + heads]
  std::vector<double> mean_;               // [layers, positions, scalars]: of the mean over heads
  std::vector<float> by_head_;             // [layers, heads, positions, scalars]
};

class Drift final : public Analysis {
 public:
  Drift(const TraceFacts& facts, const AnalysisOptions& options)
      : options_(options), axis_(facts.manifest), map_(options) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_array(sample, trace::kReceived);
    axis_.take(sample);
    auto kept = std::make_unique<DriftSample>(sample);
    kept->can_draw([this, &sample] { return DriftPanels(sample, axis_, options_); });
    if (samples_ <= options_.sample && sample.number >= options_.sample) kept->draw();
    return kept;
  }

  void end(const ObservedSample& sample, SampleAnalysis& given) override {
    auto& kept = dynamic_cast<DriftSample&>(given);
    if (!state_) state_.emplace(axis_, options_);
    // Where samples in front failed, this one may be the one to draw when they are tried again.
    const bool may_be_drawn = samples_ < options_.sample && sample.number >= options_.sample;
    if (samples_++ != options_.sample) {
      if (!may_be_drawn) kept.panels.reset();
    } else if (kept.panels) {
      map_.draw(sample, axis_, *kept.panels);
    } else {
      throw_input_error(
          {"sample " + sample.id(), "the map of the sample that is drawn", "none in its state"});
    }
    for (std::int64_t l = 0; l < axis_.size(); ++l) {
      for (std::int64_t h = -1; h < axis_.heads(); ++h) {
        for (std::int64_t p = 0; p < kDriftPositions; ++p) state_->take({l, h, p}, kept.scalars({l, h, p}));
      }
    }
    state_->add_sample(sample.id(), axis_, reveal_order(sample));
    if (sample.blocks) state_->block_length = sample.blocks->length;
  }

  std::vector<Table> tables() const override {
    if (samples_ > 0 && options_.sample >= samples_) {
      throw_usage_error({"sample", fmt::format("a number below {}, the samples of the trace", samples_),
                         std::to_string(options_.sample)});
    }
    auto tables = drift_tables(axis_, options_.rules(), state_ ? &*state_ : nullptr);
    for (auto& table : map_.tables()) tables.push_back(std::move(table));
    tables.push_back(drift_by_block_length(options_.rules(), state_ ? &*state_ : nullptr));
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

#include <cmath>
#include <memory>
#include <optional>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/floating/floating_tables.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

class Floating final : public Analysis {
 public:
  Floating(const TraceFacts& facts, const AnalysisOptions& options)
      : rule_options_{options.epsilon, options.share_factor, options.mad_factor},
        options_(options),
        axis_(facts.manifest) {}

  void add(const ObservedSample& sample) override {
    require_array(sample.stored(), trace::kReceived);
    axis_.take(sample);
    if (!state_) state_.emplace(axis_, options_);
    if (!detector_ || !detector_->fits(sample.causal, sample.tokens))
      detector_.emplace(sample.causal, sample.tokens, rule_options_);
    PositionClasses classes(sample);
    state_->tally.begin_sample(sample);
    for (std::int64_t s = 0; s < sample.step_count(); ++s) {
      classes.at_step(s);
      const std::int64_t bin = step_bin(sample, s);
      for (std::int64_t l = 0; l < axis_.size(); ++l) {
        const Received received = sample.received(s, l);
        take({s, l, bin, kHeadMean, 0}, received.mean, classes);
        for (std::int64_t h = 0; h < received.heads; ++h) {
          take({s, l, bin, kPerHead, h}, {received.head(h), static_cast<size_t>(received.tokens)}, classes);
        }
      }
    }
    state_->tally.end_sample();
    end_sample(sample);
  }

  std::vector<Table> tables() const override {
    return floating_tables(axis_, rule_options_, state_ ? &*state_ : nullptr);
  }

 private:
  struct Place {
    std::int64_t step, layer, bin, view, head;
  };

  void take(const Place& at, std::span<const double> received, const PositionClasses& classes) {
    FloatingState& state = *state_;
    detector_->look(received);
    for (std::int64_t r = 0; r < kRuleCount; ++r) {
      detector_->find(kRules[static_cast<size_t>(r)], anchors_);
      const double size = anchors_.defined ? static_cast<double>(anchors_.positions.size()) : stats::kNan;
      const double share = anchors_.defined ? share_of(anchors_.positions, received) : stats::kNan;
      const std::int64_t cell = state.rules.at({at.layer, at.view, r});
      state.sample_sizes.add(cell, size);
      state.sample_shares.add(cell, share);
      state.sample_fires.add(cell, anchors_.fired ? 1 : 0);
      state.sample_undefined.add(cell, anchors_.defined ? 0 : 1);
      const std::int64_t by_step = state.steps.at({at.layer, at.bin, at.view, r});
      state.step_sizes.add(by_step, size);
      state.step_shares.add(by_step, share);
      if (at.view == kPerHead) {
        const std::int64_t by_head = state.heads.at({at.layer, at.head, r});
        state.head_sizes.add(by_head, size);
        state.head_shares.add(by_head, share);
        state.head_fires.add(by_head, anchors_.fired ? 1 : 0);
      }
      const std::int64_t list = composition_index(kRules[static_cast<size_t>(r)]);
      if (list < 0) continue;
      const std::int64_t set = state.sets.at({at.layer, list, at.view});
      state.composition.count(set, classes, anchors_.positions);
      state.tally.count(list * kViews + at.view, at.step, anchors_.positions);
    }
    const std::array measures = {detector_->entropy(), detector_->anchor_count(), detector_->top_share(),
                                 detector_->margin()};
    for (size_t m = 0; m < measures.size(); ++m) {
      state.sample_measures.add(state.measures.at({at.layer, at.view, static_cast<std::int64_t>(m)}),
                                measures[m]);
    }
  }

  void end_sample(const ObservedSample& sample) {
    FloatingState& state = *state_;
    detector_->look(detector_->null());
    for (std::int64_t r = 0; r < kRuleCount; ++r) {
      detector_->find(kRules[static_cast<size_t>(r)], anchors_);
      if (!anchors_.defined) continue;
      state.null_sizes.add(r, static_cast<double>(anchors_.positions.size()));
      state.null_shares.add(r, share_of(anchors_.positions, detector_->null()));
    }
    state.null_measures.add(
        {detector_->entropy(), detector_->anchor_count(), detector_->top_share(), detector_->margin()});
    state.add_sample(sample.id(), axis_);
  }

  RuleOptions rule_options_;
  AnalysisOptions options_;
  LayerAxis axis_;
  std::optional<AnchorDetector> detector_;
  Anchors anchors_;
  std::optional<FloatingState> state_;
};

}  // namespace

std::unique_ptr<Analysis> make_floating(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Floating>(facts, options);
}

}  // namespace buoy::analysis

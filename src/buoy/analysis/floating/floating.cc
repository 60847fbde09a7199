#include <memory>
#include <optional>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/floating/floating_tables.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

class Floating final : public Analysis {
 public:
  Floating(const TraceFacts& facts, const AnalysisOptions& options)
      : options_(options), axis_(facts.manifest) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_array(sample, trace::kReceived);
    axis_.take(sample);
    return std::make_unique<FloatingSample>(axis_, sample);
  }

  void end(const ObservedSample& sample, SampleAnalysis& kept) override {
    if (!state_) state_.emplace(axis_, options_);
    add_null(sample);
    state_->add(sample, axis_, dynamic_cast<const FloatingSample&>(kept));
  }

  std::vector<Table> tables() const override {
    return floating_tables(axis_, options_.rules(), state_ ? &*state_ : nullptr);
  }

 private:
  // What the rules find in even attention of the same queries and keys, mean over the steps.
  void add_null(const ObservedSample& sample) {
    stats::Moments sizes(kRuleCount), shares(kRuleCount), measures(kMeasureCount);
    Anchors anchors;
    // Without blocks all steps are alike.
    for (std::int64_t s = 0; s < (sample.blocks ? sample.step_count() : 1); ++s) {
      AnchorDetector detector(sample.reach_at(s), options_.rules());
      detector.look(detector.null());
      for (std::int64_t r = 0; r < kRuleCount; ++r) {
        detector.find(kRules[static_cast<size_t>(r)], anchors);
        if (!anchors.defined) continue;
        sizes.add(r, static_cast<double>(anchors.positions.size()));
        shares.add(r, share_of(anchors.positions, detector.null()));
      }
      measures.add({detector.entropy(), detector.anchor_count(), detector.top_share(), detector.margin()});
    }
    state_->null_sizes.add(sizes.means());
    state_->null_shares.add(shares.means());
    state_->null_measures.add(measures.means());
  }

  AnalysisOptions options_;
  LayerAxis axis_;
  std::optional<FloatingState> state_;
};

}  // namespace

std::unique_ptr<Analysis> make_floating(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Floating>(facts, options);
}

}  // namespace buoy::analysis

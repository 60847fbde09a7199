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
  // What the rules find in uniform attention with the same mask and length.
  void add_null(const ObservedSample& sample) {
    AnchorDetector detector(sample.mask, sample.tokens, options_.rules());
    Anchors anchors;
    detector.look(detector.null());
    for (std::int64_t r = 0; r < kRuleCount; ++r) {
      detector.find(kRules[static_cast<size_t>(r)], anchors);
      if (!anchors.defined) continue;
      state_->null_sizes.add(r, static_cast<double>(anchors.positions.size()));
      state_->null_shares.add(r, share_of(anchors.positions, detector.null()));
    }
    state_->null_measures.add(
        {detector.entropy(), detector.anchor_count(), detector.top_share(), detector.margin()});
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

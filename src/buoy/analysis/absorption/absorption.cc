#include <memory>
#include <optional>

#include "buoy/analysis/absorption/absorption_state.h"
#include "buoy/analysis/absorption/absorption_tables.h"
#include "buoy/analysis/core/analysis.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

class Absorption final : public Analysis {
 public:
  Absorption(const TraceFacts& facts, const AnalysisOptions& options)
      : options_(options), axis_(facts.manifest) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_array(sample, trace::kReceived);
    axis_.take(sample);
    return std::make_unique<AbsorptionSample>(axis_, sample);
  }

  void end(const ObservedSample& sample, SampleAnalysis& kept) override {
    if (!state_) state_.emplace(axis_, options_);
    masked_diffusion_ = sample.masked_diffusion;
    const std::int64_t last = sample.final_index();
    state_->add(sample.id(), axis_, dynamic_cast<const AbsorptionSample&>(kept),
                last >= 0 && sample.row_at(last) == sample.final_row);
  }

  std::vector<Table> tables() const override {
    return absorption_tables({axis_, options_.rules(), masked_diffusion_, state_ ? &*state_ : nullptr});
  }

 private:
  AnalysisOptions options_;
  LayerAxis axis_;
  bool masked_diffusion_ = false;
  std::optional<AbsorptionState> state_;
};

}  // namespace

std::unique_ptr<Analysis> make_absorption(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Absorption>(facts, options);
}

}  // namespace buoy::analysis

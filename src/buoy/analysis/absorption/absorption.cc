#include <memory>
#include <optional>
#include <string>

#include "buoy/analysis/absorption/absorption_state.h"
#include "buoy/analysis/absorption/absorption_tables.h"
#include "buoy/analysis/absorption/excess_tables.h"
#include "buoy/analysis/core/analysis.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

class Absorption final : public Analysis {
 public:
  Absorption(const TraceFacts& facts, const AnalysisOptions& options)
      : options_(options), label_(facts.label), axis_(facts.manifest) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_array(sample, trace::kReceived);
    axis_.take(sample);
    return std::make_unique<AbsorptionSample>(axis_, sample);
  }

  void end(const ObservedSample& sample, SampleAnalysis& kept) override {
    if (!state_) state_.emplace(axis_, options_);
    masked_diffusion_ = sample.masked_diffusion;
    if (sample.blocks) state_->excess.block_length = sample.blocks->length;
    const std::int64_t last = sample.final_index();
    state_->add(sample.id(), axis_, dynamic_cast<const AbsorptionSample&>(kept),
                last >= 0 && sample.row_at(last) == sample.final_row);
  }

  std::vector<Table> tables() const override {
    return absorption_tables({axis_, options_.rules(), masked_diffusion_, state_ ? &*state_ : nullptr});
  }
  LabelledExcess excess() const { return {label_, state_ ? &state_->excess : nullptr}; }

 private:
  AnalysisOptions options_;
  std::string label_;
  LayerAxis axis_;
  bool masked_diffusion_ = false;
  std::optional<AbsorptionState> state_;
};

}  // namespace

std::unique_ptr<Analysis> make_absorption(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Absorption>(facts, options);
}

std::vector<Table> compare_absorption(std::span<const std::unique_ptr<Analysis>> traces,
                                      const AnalysisOptions& options) {
  std::vector<LabelledExcess> all;
  for (const auto& trace : traces) all.push_back(dynamic_cast<const Absorption&>(*trace).excess());
  return {excess_pairs(all, options.bootstrap)};
}

}  // namespace buoy::analysis

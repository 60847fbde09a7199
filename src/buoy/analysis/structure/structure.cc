#include <memory>
#include <optional>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/structure/structure_state.h"
#include "buoy/analysis/structure/structure_tables.h"
#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

class Structure final : public Analysis {
 public:
  Structure(const TraceFacts& facts, const AnalysisOptions& options)
      : options_(options), axis_(facts.manifest) {}

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_array(sample, trace::kReceived);
    if (!sample.has_texts) {
      throw_input_error({"sample " + sample.id(), "the text token_texts, one per token",
                         "none; trace prompts that are text, with the model's tokenizer"});
    }
    axis_.take(sample);
    return std::make_unique<StructureSample>(axis_, sample);
  }

  void end(const ObservedSample& sample, SampleAnalysis& kept) override {
    if (!state_) state_.emplace(axis_, options_);
    state_->add(sample.id(), axis_, dynamic_cast<const StructureSample&>(kept));
  }

  std::vector<Table> tables() const override {
    return structure_tables(axis_, options_.rules(), state_ ? &*state_ : nullptr);
  }

 private:
  AnalysisOptions options_;
  LayerAxis axis_;
  std::optional<StructureState> state_;
};

}  // namespace

std::unique_ptr<Analysis> make_structure(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Structure>(facts, options);
}

}  // namespace buoy::analysis

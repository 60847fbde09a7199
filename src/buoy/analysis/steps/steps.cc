// How alike the attention of a head is from one denoising step to the next, and whether the best keys of the
// first step stay the best.

#include <fmt/format.h>

#include <algorithm>

#include "buoy/analysis/core/quantity_tables.h"
#include "buoy/analysis/steps/sample_steps.h"
#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/result/schema/steps.h"
#include "buoy/trace/manifest.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// A compact trace asks some samples for rows that nobody else observes; these are not all samples.
bool asked_for_rows(const trace::Manifest& manifest) {
  const auto names = trace::observed_names(manifest);
  return names.empty() || std::find(names.begin(), names.end(), "rows") != names.end();
}

class Steps final : public Analysis {
 public:
  Steps(const TraceFacts& facts, const AnalysisOptions& options)
      : keys_(options.recall_keys),
        rows_(asked_for_rows(facts.manifest)),
        axis_(facts.manifest),
        summary_(kStepMeasures, options.bootstrap) {
    if (keys_ < 1) throw_usage_error({field_name("recall_keys"), "at least 1", std::to_string(keys_)});
  }

  std::unique_ptr<SampleAnalysis> begin(const SampleFacts& sample) override {
    require_array(sample, trace::kReceived);
    if (keys_ > sample.tokens) {
      throw_input_error({"sample " + sample.id(),
                         fmt::format("at least as many keys as `recall_keys` asks for ({})", keys_),
                         std::to_string(sample.tokens)});
    }
    axis_.take(sample);
    return std::make_unique<SampleSteps>(sample, keys_, rows_);
  }

  void end(const ObservedSample& sample, SampleAnalysis& given) override {
    summary_.add(sample, dynamic_cast<const SampleSteps&>(given).means);
  }

  std::vector<Table> tables() const override {
    return {summary_.layers(schema::steps_by_layer, axis_), summary_.steps(schema::steps_by_step),
            summary_.heads(schema::steps_by_head, axis_)};
  }

 private:
  std::int64_t keys_;
  bool rows_;  // observed by those who asked
  LayerAxis axis_;
  QuantitySummary summary_;
};

}  // namespace

std::unique_ptr<Analysis> make_steps(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Steps>(facts, options);
}

}  // namespace buoy::analysis

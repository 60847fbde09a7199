#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "buoy/analysis/flow/sample_flow.h"
#include "buoy/analysis/retrieval/retrieval_score.h"
#include "buoy/analysis/sample/stored_source.h"

namespace buoy::run {

// What to observe so that all features can be computed.
inline constexpr char kFeatureObservables[] = "received,top,row-mass";

// A few numbers on what attention did while one question was answered, to hold against whether the answer was
// right; feature_names() says what each is. Made from the records of a sample as they come.
class AttentionFeatures final : public analysis::SampleAnalysis {
 public:
  explicit AttentionFeatures(const analysis::SampleFacts& sample);
  void take(const analysis::LayerView& layer) override;
  void state(analysis::StateArchive& /*archive*/) override {}  // it is never kept

  // After the last forward. Those that a sample does not allow (no gold document, no evidence in the answer)
  // are left out.
  std::map<std::string, double> features(const analysis::ObservedSample& sample) const;

 private:
  struct Layer {
    double top_share = 0, anchor_count = 0;  // at the final forward
    std::int64_t top = -1;                   // at the step before
    std::int64_t moves = 0, chances = 0;
  };

  std::optional<analysis::FlowSample> flow_;     // where a document is gold
  std::optional<analysis::RetrievalRows> rows_;  // where there is evidence
  std::vector<Layer> layers_;
};

// UsageError unless an evaluation may observe this: nothing, or what the features need.
void require_features(const std::string& observe);

// Of a stored sample.
std::map<std::string, double> attention_features(const analysis::StoredSource& source);

// Name and meaning of every feature, in the order to show them in.
struct FeatureName {
  const char* name;
  const char* meaning;
};
const std::vector<FeatureName>& feature_names();

}  // namespace buoy::run

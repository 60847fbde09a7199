#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/observed_sample.h"

namespace buoy::experiment {

// What to observe so that all features can be computed.
inline constexpr char kFeatureObservables[] = "received,top,row-mass";

// A few numbers on what attention did while one question was answered, to hold against whether the answer was
// right. Those that a sample does not allow (no gold document, no evidence in the answer) are left out.
//   gold_mass        of the answer's queries on gold documents, mean over steps, heads and layers
//   gold_mass_deep   the same in the deepest third of the layers
//   gold_lift        gold_mass over what even attention would give
//   strict_heads     share of heads whose strongest key was once the very token being written, in the
//   evidence best_head        strict hits of the best head per token of the answer evidence_mass    attention
//   on the evidence by the head that gives most top_share        attention received by the strongest column,
//   mean over layers, last forward anchors          effective number of columns that receive attention,
//   likewise top_moves        masked diffusion: share of steps at which a layer's strongest column changes
std::map<std::string, double> attention_features(const analysis::ObservedSample& sample);

// Name and meaning of every feature, in the order to show them in.
struct FeatureName {
  const char* name;
  const char* meaning;
};
const std::vector<FeatureName>& feature_names();

}  // namespace buoy::experiment

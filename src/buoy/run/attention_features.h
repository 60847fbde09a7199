#pragma once

#include <map>
#include <string>
#include <vector>

#include "buoy/analysis/core/observed_sample.h"

namespace buoy::run {

// What to observe so that all features can be computed.
inline constexpr char kFeatureObservables[] = "received,top,row-mass";

// A few numbers on what attention did while one question was answered, to hold against whether the answer was
// right; feature_names() says what each is. Those that a sample does not allow (no gold document, no evidence
// in the answer) are left out.
std::map<std::string, double> attention_features(const analysis::ObservedSample& sample);

// Name and meaning of every feature, in the order to show them in.
struct FeatureName {
  const char* name;
  const char* meaning;
};
const std::vector<FeatureName>& feature_names();

}  // namespace buoy::run

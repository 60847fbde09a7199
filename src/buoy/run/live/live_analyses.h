#pragma once

#include <string>
#include <utility>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/observe/plan.h"

namespace buoy::run {

// Analyses that take the records of a run while the model runs.
struct LiveAnalyses {
  std::vector<std::string> names = {};  // none: nothing is analysed
  analysis::AnalysisOptions options = {};
  std::string label = {};  // how tables call the run
};

// What analyses need to be observed: as for `observe`.
std::string observables_for(const std::vector<std::string>& analyses);

// Every analysis that needs no more than is observed.
std::vector<std::string> analyses_within(const observe::Plan& plan, bool with_named = false);
// What those lack that cannot be kept, by name: as in "needs `observe` received,mass".
std::vector<std::pair<std::string, std::string>> analyses_beyond(const observe::Plan& plan);

}  // namespace buoy::run

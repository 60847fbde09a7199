#pragma once

#include <string>
#include <vector>

#include "buoy/analysis/core/run.h"
#include "buoy/app/options/options.h"

namespace buoy::app {

// What `analyze` and `report` share: traces, and how they are analysed.
struct AnalysisCall {
  std::vector<std::string> traces;  // "TRACE" or "LABEL=TRACE"
  analysis::RunOptions run;
  std::vector<const Option*> state_settings;

  // With the settings that were not given left to the traces.
  analysis::RunOptions settled() const;
};

// Those settings of analyses that what is kept of a sample depends on.
std::vector<const Option*> add_state_settings(Command& command, analysis::AnalysisOptions& options);

// How samples are analysed, wherever they come from; without the seed of the bootstrap.
std::vector<const Option*> add_analysis_settings(Command& command, analysis::AnalysisOptions& options);

// Returns the option that takes the traces.
Option* add_analysis_options(Command& command, AnalysisCall& call);

}  // namespace buoy::app

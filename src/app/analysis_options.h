#pragma once

#include <string>
#include <vector>

#include "analysis/run.h"
#include "app/named_path.h"
#include "app/options.h"

namespace buoy::app {

// What `analyze` and `report` share: traces, and how they are analysed.
struct AnalysisCall {
  std::vector<std::string> traces;  // "TRACE" or "LABEL=TRACE"
  analysis::RunOptions run;
};

// Returns the option that takes the traces.
Option* add_analysis_options(Command& command, AnalysisCall& call);

// Traces with the names given, or else those of their models; equal names are told apart by folder.
std::vector<analysis::TraceInput> labelled_traces(const std::vector<NamedPath>& traces,
                                                  trace::Integrity integrity);

// Runs with a line of progress on the terminal; notes on what was left out go to stderr.
analysis::RunResult run_with_progress(const std::vector<std::string>& names,
                                      const std::vector<analysis::TraceInput>& traces,
                                      const analysis::RunOptions& run);

}  // namespace buoy::app

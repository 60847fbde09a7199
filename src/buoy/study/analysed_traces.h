#pragma once

#include <string>
#include <vector>

#include "buoy/analysis/core/run.h"
#include "buoy/base/file/named_path.h"

namespace buoy::study {

// Traces with the names given, or else those of their models; equal names are told apart by folder.
std::vector<analysis::TraceInput> labelled_traces(const std::vector<NamedPath>& traces,
                                                  trace::Integrity integrity);

// Run with a line of progress on the terminal; notes on what was left out go to stderr.
analysis::RunResult run_with_progress(const std::vector<analysis::TracePass>& passes,
                                      const analysis::RunOptions& run);
analysis::RunResult run_with_progress(const std::vector<std::string>& names,
                                      const std::vector<analysis::TraceInput>& traces,
                                      const analysis::RunOptions& run);

}  // namespace buoy::study

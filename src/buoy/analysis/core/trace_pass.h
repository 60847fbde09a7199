#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "buoy/analysis/core/run.h"

namespace buoy::analysis {

struct PassResult {
  std::vector<std::unique_ptr<Analysis>> analyses;  // [wanted], after the last sample; null: left out
  std::vector<std::optional<std::string>> reasons;  // [wanted]: why
  struct Failed {
    std::string id, error;
  };
  std::vector<Failed> failed;  // samples that failed while they were traced
};

// One pass over the samples of a trace. With leave_out_lacking, analyses that it lacks something for are left
// out; otherwise what is wrong is thrown.
PassResult run_pass(const TracePass& pass, const RunOptions& options);

}  // namespace buoy::analysis

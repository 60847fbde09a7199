#pragma once

#include <vector>

#include "buoy/run/trace_run.h"

namespace buoy::run {

// Takes out of the run the analyses that none of its prompts allows (retrieval where no passage has evidence,
// say), and says why. Throws InputError when none is left, UsageError for settings that no sample allows.
std::vector<TraceRunResult::LeftOut> leave_out_impossible(const LoadedModel& model, TraceRun& run);

}  // namespace buoy::run

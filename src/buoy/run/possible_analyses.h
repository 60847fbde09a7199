#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "buoy/run/trace_run.h"

namespace buoy::run {

using LeftOut = TraceRunResult::LeftOut;
// What is known of a sample by its number; nothing of one that failed or will.
using SampleFactsOf = std::function<std::optional<analysis::ObservedSample>(std::size_t number)>;

// Takes out the analyses that none of the samples allows (retrieval where no passage has evidence, say), and
// says why. Throws InputError when none is left, UsageError for settings that no sample allows.
std::vector<LeftOut> leave_out_impossible(std::vector<std::string>& names, const analysis::TraceFacts& trace,
                                          const analysis::AnalysisOptions& options,
                                          const SampleFactsOf& facts);

// Likewise of a run, by its prompts.
std::vector<LeftOut> leave_out_impossible(const LoadedModel& model, TraceRun& run);

}  // namespace buoy::run

#pragma once

#include <functional>

#include "buoy/run/trace_run.h"

namespace buoy::run {

struct LiveProgress {
  std::function<void()> sample_done;
  LiveTimes* times = nullptr;  // may be null
};

// Runs the analyses while the model answers the prompts of the run. Nothing is written: what is kept of a
// sample are sums. The tables are those that a trace of the same run would give. Samples that fail are
// listed.
analysis::AnalysedTrace run_live(const Context& context, LoadedModel& model, TraceRun run,
                                 const LiveAnalyses& analyses, const LiveProgress& progress);

}  // namespace buoy::run

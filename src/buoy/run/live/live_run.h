#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "buoy/analysis/core/run.h"
#include "buoy/run/live/live_tracer.h"
#include "buoy/run/trace_run.h"

namespace buoy::run {

struct LiveAnalyses {
  std::vector<std::string> names;  // of analyses
  analysis::AnalysisOptions options;
  std::string label;  // how tables call this run
};

// What analyses need to be observed: as for `observe`.
std::string observables_for(const std::vector<std::string>& analyses);

struct LiveProgress {
  std::function<void()> sample_done;
  LiveTimes* times = nullptr;  // may be null
};

// Runs the analyses while the model answers the prompts of the run. Nothing is written: what is kept of a
// sample are sums. The tables are those that a trace of the same run would give. Samples that fail are
// listed.
analysis::AnalysedTrace run_live(const Context& context, LoadedModel& model, const TraceRun& run,
                                 const LiveAnalyses& analyses, const LiveProgress& progress);

}  // namespace buoy::run

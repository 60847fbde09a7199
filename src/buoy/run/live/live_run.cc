#include "buoy/run/live/live_run.h"

#include <utility>

namespace buoy::run {

analysis::AnalysedTrace run_live(const Context& context, LoadedModel& model, TraceRun run,
                                 const LiveAnalyses& analyses, const LiveProgress& progress) {
  run.folder.clear();
  run.analyses = analyses;
  return run_trace(context, model, run, {[](const auto&) {}, progress.sample_done, progress.times}).analysed;
}

}  // namespace buoy::run

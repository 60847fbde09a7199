#pragma once

#include "buoy/analysis/core/run.h"
#include "buoy/report/explorer.h"

namespace buoy::study {

// How much of a trace the page gets: of one that serves the comparison of tasks less.
enum class Explored { kMuch, kLittle };

// The panel of a trace in the report's section "Explore": the sample that maps show, then others. A trace
// that has nothing to show gives the reason.
report::ExplorerPanel explored_trace(const analysis::TraceInput& input, const analysis::RunOptions& options,
                                     Explored explored = Explored::kMuch);

}  // namespace buoy::study

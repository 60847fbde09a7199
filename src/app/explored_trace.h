#pragma once

#include "analysis/run.h"
#include "report/explorer.h"

namespace buoy::app {

// The panel of a trace in the report's section "Explore": the sample that maps show. A trace that has nothing
// to show gives the reason.
report::ExplorerPanel explored_trace(const analysis::TraceInput& input, const analysis::RunOptions& options);

}  // namespace buoy::app

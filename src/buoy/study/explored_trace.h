#pragma once

#include "buoy/analysis/core/run.h"
#include "buoy/report/explorer.h"

namespace buoy::study {

// The panel of a trace in the report's section "Explore": the sample that maps show. A trace that has nothing
// to show gives the reason.
report::ExplorerPanel explored_trace(const analysis::TraceInput& input, const analysis::RunOptions& options);

}  // namespace buoy::study

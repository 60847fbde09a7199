#pragma once

#include "buoy/result/table.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

inline IntervalCells interval_cells(const stats::Estimate& estimate) {
  return {estimate.value, estimate.lower, estimate.upper};
}

// Of a share, in percent.
inline IntervalCells percent_cells(const stats::Estimate& share) {
  return {100 * share.value, 100 * share.lower, 100 * share.upper};
}

}  // namespace buoy::analysis

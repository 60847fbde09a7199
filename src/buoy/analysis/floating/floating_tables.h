#pragma once

#include <vector>

#include "buoy/analysis/floating/floating_state.h"
#include "buoy/result/table.h"

namespace buoy::analysis {

// `state` is null when no sample was seen: the same tables without rows.
std::vector<Table> floating_tables(const LayerAxis& axis, const RuleOptions& rules,
                                   const FloatingState* state);

}  // namespace buoy::analysis

#pragma once

#include <vector>

#include "buoy/analysis/structure/structure_state.h"
#include "buoy/result/table.h"

namespace buoy::analysis {

// `state` is null when no sample was seen: the same tables without rows.
std::vector<Table> structure_tables(const LayerAxis& axis, const RuleOptions& rules,
                                    const StructureState* state);

}  // namespace buoy::analysis

#pragma once

#include <vector>

#include "buoy/analysis/absorption/absorption_state.h"
#include "buoy/result/table.h"

namespace buoy::analysis {

struct AbsorptionFacts {
  const LayerAxis& axis;
  const RuleOptions& rules;
  bool masked_diffusion;
  const AbsorptionState* state;  // null when no sample was seen
};

std::vector<Table> absorption_tables(const AbsorptionFacts& facts);

// The curves of the paper's figure, layer by layer.
Table published_absorption();

}  // namespace buoy::analysis

#pragma once

#include <span>
#include <string>

#include "buoy/analysis/absorption/excess.h"
#include "buoy/result/table.h"

namespace buoy::analysis {

Table excess_table(const ExcessState* state);  // null: no sample was seen
Table excess_by_layer_table(const LayerAxis& axis, const ExcessState* state);
Table excess_by_block_length(const ExcessState* state);

struct LabelledExcess {
  std::string label;
  const ExcessState* state;
};

// Every trace against every later one, by the samples that both have.
Table excess_pairs(std::span<const LabelledExcess> traces, const stats::BootstrapOptions& options);

}  // namespace buoy::analysis

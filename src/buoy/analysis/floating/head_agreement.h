#pragma once

#include <string>
#include <vector>

#include "buoy/result/table.h"

namespace buoy::analysis {

// How alike two models' heads are scored: every pair of traces in a stacked table with the columns trace,
// layer, head and the scores. Models of other shapes have nothing to compare; such a pair gets a row without
// numbers. `share` of the heads counts as the top.
Table head_agreement(const Table& by_head, const std::vector<std::string>& scores, double share = 0.05);

}  // namespace buoy::analysis

#pragma once

#include <span>

#include "buoy/result/table.h"

namespace buoy::analysis {

// How alike two models' heads are scored: every pair of traces in a stacked table retrieval_by_head, by some
// of its scores. Models of other shapes have nothing to compare; such a pair gets a row without numbers.
// `share` of the heads counts as the top.
Table head_agreement(const Table& by_head, std::span<const Interval* const> scores, double share = 0.05);

}  // namespace buoy::analysis

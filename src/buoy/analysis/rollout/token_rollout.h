#pragma once

#include <span>
#include <vector>

#include "buoy/analysis/core/mask.h"

namespace buoy::analysis {

// One layer further down: half of what is at a token stays there, half goes where its row of attention says.
// `weights` [tokens, tokens], rows that sum to 1.
std::vector<double> rolled(std::span<const double> at, std::span<const float> weights);
// The same of even attention.
std::vector<double> rolled_evenly(std::span<const double> at, const Mask& mask);

}  // namespace buoy::analysis

#pragma once

#include <cstddef>
#include <span>

#include "evaluate/bootstrap.h"

namespace buoy::evaluate {

// The share of items that have something, with Wilson's score interval: unlike resampling, it does not shrink
// to nothing when all items agree.
Estimate share_estimate(std::size_t having, std::size_t items, double level);

// The mean of scores: a share where every score is 0 or 1, otherwise bootstrap_mean().
Estimate mean_estimate(std::span<const double> scores, const BootstrapOptions& options);

}  // namespace buoy::evaluate

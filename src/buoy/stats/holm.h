#pragma once

#include <span>
#include <vector>

namespace buoy::stats {

// Holm's step-down: p values that hold together. NaN stays NaN and is not counted.
std::vector<double> holm(std::span<const double> p);

}  // namespace buoy::stats

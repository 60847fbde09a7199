#pragma once

#include <limits>

namespace buoy::stats {

// A cell of a table that has no value.
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace buoy::stats

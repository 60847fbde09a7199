#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace buoy::stats {

struct Interval {
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();

  bool contains(double value) const { return lower <= value && value <= upper; }
};

// A number computed from samples (questions, traced sequences), and how sure it is. What is not known is NaN.
struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
  std::int64_t samples = 0;
  double deviation = std::numeric_limits<double>::quiet_NaN();  // population standard deviation over samples

  Interval interval() const { return {lower, upper}; }
};

// Ends that lie beyond what the quantity can be are moved to it, but not past a value that is beyond it by
// rounding. The interval covers as often as before: what is cut off holds no true value.
inline Estimate clipped(Estimate estimate, const Interval& possible) {
  if (estimate.lower < possible.lower) estimate.lower = std::min(possible.lower, estimate.value);
  if (estimate.upper > possible.upper) estimate.upper = std::max(possible.upper, estimate.value);
  return estimate;
}
inline constexpr Interval kCorrelations{-1, 1}, kShares{0, 1};

struct BootstrapOptions {
  std::int64_t replicates = 1000;
  double confidence = 0.95;  // of the interval
  std::uint64_t seed = 1;
};

}  // namespace buoy::stats

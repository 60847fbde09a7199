#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace buoy::stats {

// Medians of values that are not negative: counts by leading bits, then looks at the few in the middle. Keeps
// its memory from call to call.
class MedianFinder {
 public:
  // The mean of the middle two if their number is even. At least one value, none of them NaN.
  double of(std::span<const double> values);

 private:
  std::vector<std::uint64_t> left_;
};

}  // namespace buoy::stats

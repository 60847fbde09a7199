#pragma once

#include <vector>

#include "buoy/stats/moments.h"

namespace buoy::stats {

// What a file keeps of Moments: counts, and in single precision the means and (unless it is not asked for)
// the sums of squares about them.
struct RoundedMoments {
  explicit RoundedMoments(std::int64_t cells, bool with_spread = true);

  void take(const Moments& moments);  // with as many cells

  std::vector<double> count;
  std::vector<float> mean, spread;  // 0 where there are no values
};

}  // namespace buoy::stats

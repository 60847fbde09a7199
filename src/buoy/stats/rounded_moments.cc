#include "buoy/stats/rounded_moments.h"

#include <algorithm>

#include "buoy/base/error.h"

namespace buoy::stats {

RoundedMoments::RoundedMoments(std::int64_t cells, bool with_spread)
    : count(static_cast<size_t>(cells), 0.0), mean(count.size(), 0.0F) {
  if (with_spread) spread.assign(count.size(), 0.0F);
}

void RoundedMoments::take(const Moments& moments) {
  BUOY_CHECK(moments.count_.size() == count.size());
  for (size_t i = 0; i < count.size(); ++i) {
    count[i] = moments.count_[i];
    if (!(count[i] > 0)) continue;
    const double exact = moments.sum_[i] / count[i];
    mean[i] = static_cast<float>(exact);
    // About the mean, so that rounding does not make a deviation of what has none.
    if (!spread.empty())
      spread[i] = static_cast<float>(std::max(0.0, moments.square_[i] - moments.sum_[i] * exact));
  }
}

}  // namespace buoy::stats

#include "buoy/stats/power.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/stats/share.h"
#include "buoy/stats/student_t.h"

namespace buoy::stats {
namespace {

// z with P(Z < z) = power.
double one_sided_normal(double power) {
  return power >= 0.5 ? two_sided_normal(2 * power - 1) : -two_sided_normal(1 - 2 * power);
}

// The fewest items that must be lost so that the interval of the loss lies beyond the margin; more than there
// are: none.
std::int64_t fewest_lost(std::int64_t items, const PowerCase& of) {
  const auto n = static_cast<std::size_t>(items);
  const std::vector<double> before(n, 1.0);
  std::vector<double> after(n, 1.0);
  for (std::int64_t lost = 0; lost <= items; ++lost) {
    if (lost > 0) after[static_cast<std::size_t>(lost - 1)] = 0.0;
    const auto loss = difference_estimate({before, after}, {.replicates = 1000, .confidence = 1 - of.alpha});
    if (loss.lower > of.margin) return lost;
  }
  return items + 1;
}

// P(X >= least) of X items out of n, each with a chance of p.
double chance_of_at_least(std::int64_t least, std::int64_t n, double p) {
  if (p >= 1) return least <= n ? 1 : 0;
  double below = 0, term = std::pow(1 - p, static_cast<double>(n));
  for (std::int64_t x = 0; x < least && x <= n; ++x) {
    below += term;
    term *= static_cast<double>(n - x) / static_cast<double>(x + 1) * p / (1 - p);
  }
  return 1 - below;
}

}  // namespace

double detectable_by_error(double error, double freedom, const PowerCase& of) {
  return of.margin +
         (two_sided_t_between(1 - of.alpha, std::max(freedom, 1.0)) + one_sided_normal(of.power)) * error;
}

double detectable_mean(double deviation, std::int64_t samples, const PowerCase& of) {
  BUOY_CHECK(samples >= 2);
  const auto n = static_cast<double>(samples);
  return detectable_by_error(deviation / std::sqrt(n), n - 1, of);
}

double detectable_drop(std::int64_t items, const PowerCase& of) {
  BUOY_CHECK(items >= 1);
  const std::int64_t least = fewest_lost(items, of);
  double low = 0, high = 1;
  if (chance_of_at_least(least, items, high) < of.power) return 1;
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (low + high);
    (chance_of_at_least(least, items, middle) < of.power ? low : high) = middle;
  }
  return high;
}

double detectable_ratio(double gain, double ratio, std::int64_t items, const PowerCase& of) {
  BUOY_CHECK(gain > 0 && gain <= 1 && items >= 1);
  const double reach = two_sided_normal(1 - of.alpha) + one_sided_normal(of.power);
  const auto n = static_cast<double>(items);
  const auto variance = [&](double share) { return std::max(share * (1 - share), 0.25 / n) / n; };
  const auto found = [&](double other) {
    return other - ratio * gain > reach * std::sqrt(variance(other) + ratio * ratio * variance(gain));
  };
  for (double other = gain; other <= 1; other += 0.001) {
    if (found(other)) return other / gain;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace buoy::stats

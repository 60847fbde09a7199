#include "buoy/stats/share.h"

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/stats/student_t.h"

namespace buoy::stats {
namespace {

// How two shares of the same items go together, -1 to 1, corrected towards 0 where they agree.
double agreement(double both, double only_a, double only_b, double neither) {
  const double margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither);
  if (margins == 0) return 0;
  const double half = (both + only_a + only_b + neither) / 2;
  const double cross = both * neither - only_a * only_b;
  return (cross > 0 ? std::max(cross - half, 0.0) : cross) / std::sqrt(margins);
}

bool from_0_to_1(std::span<const double> scores) {
  return std::all_of(scores.begin(), scores.end(), [](double score) { return score >= 0 && score <= 1; });
}

// Resampling cannot show a difference of a sign that no item has. As many items as Wilson's interval allows
// may have one of that sign, at worst of 1.
Estimate with_unseen(Estimate difference, const PairedScores& scores, double level) {
  const auto& [a, b] = scores;
  bool any_above = false, any_below = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    any_above = any_above || a[i] > b[i];
    any_below = any_below || a[i] < b[i];
  }
  const double unseen = share_estimate(0, a.size(), level).upper;
  if (!any_above) difference.upper = unseen + (1 - unseen) * difference.upper;
  if (!any_below) difference.lower = -unseen + (1 - unseen) * difference.lower;
  return difference;
}

}  // namespace

// By bisection: erf(z / sqrt 2) rises with z.
double two_sided_quantile(double level) {
  double low = 0, high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::sqrt(2.0)) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

bool are_shares(std::span<const double> scores) {
  return !scores.empty() &&
         std::all_of(scores.begin(), scores.end(), [](double score) { return score == 0 || score == 1; });
}

Estimate share_estimate(std::size_t having, std::size_t items, double level) {
  BUOY_CHECK(items > 0 && having <= items);
  const double n = static_cast<double>(items), p = static_cast<double>(having) / n;
  const double z = two_sided_normal(level), z2 = z * z;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return {.value = p,
          .lower = having == 0 ? 0.0 : middle - half,
          .upper = having == items ? 1.0 : middle + half,
          .samples = static_cast<std::int64_t>(items)};
}

Estimate mean_estimate(std::span<const double> scores, const BootstrapOptions& options) {
  if (!from_0_to_1(scores)) return studentised_mean(scores, options);
  if (!are_shares(scores)) return bootstrap_mean(scores, options);
  return share_estimate(static_cast<std::size_t>(std::count(scores.begin(), scores.end(), 1.0)),
                        scores.size(), options.confidence);
}

Estimate difference_estimate(const PairedScores& scores, const BootstrapOptions& options) {
  const auto& [a, b] = scores;
  if (!from_0_to_1(a) || !from_0_to_1(b)) return studentised_difference(scores, options);
  if (a.size() != b.size() || !are_shares(a) || !are_shares(b))
    return with_unseen(bootstrap_difference(scores, options), scores, options.confidence);
  double count[2][2] = {};
  for (std::size_t i = 0; i < a.size(); ++i) ++count[a[i] == 1][b[i] == 1];
  const Estimate one = mean_estimate(a, options), other = mean_estimate(b, options);
  const double together = agreement(count[1][1], count[1][0], count[0][1], count[0][0]);
  const auto reach = [&](double down, double up) {
    return std::sqrt(std::max(0.0, down * down - 2 * together * down * up + up * up));
  };
  const double difference = one.value - other.value;
  const double below = reach(one.value - one.lower, other.upper - other.value);
  const double above = reach(one.upper - one.value, other.value - other.lower);
  return {.value = difference,
          .lower = difference - below,
          .upper = difference + above,
          .samples = static_cast<std::int64_t>(a.size())};
}

Interval ratio_interval(const Estimate& above, const Estimate& below) {
  BUOY_CHECK(!below.interval().contains(0));
  const double side = below.value > 0 ? 1 : -1;  // both by this: the divisor is positive then
  const auto ordered = [&](const Interval& one) { return side > 0 ? one : Interval{-one.upper, -one.lower}; };
  const Interval top = ordered(above.interval()), divisor = ordered(below.interval());
  const double a = side * above.value, b = side * below.value, product = a * b;
  // An end of the interval is the ratio r for which a - r b has 0 as an end: (a - r b)^2 is the sum of the
  // squared distances to the ends of a and of r b, a quadratic p r^2 - 2 a b r + q = 0. Which end of b counts
  // depends on the sign of r.
  const auto end = [&](double of_top, bool outward, double outer) {
    const double of_divisor = outward ? divisor.lower : divisor.upper;
    const double p = of_divisor * (2 * b - of_divisor), q = of_top * (2 * a - of_top);
    const double root = std::copysign(std::sqrt(std::max(0.0, product * product - p * q)), outer);
    return outward ? (product + root) / p : q / (product - root);
  };
  return {end(top.lower, top.lower <= 0, -1), end(top.upper, top.upper >= 0, 1)};
}

}  // namespace buoy::stats

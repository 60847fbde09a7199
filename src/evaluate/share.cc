#include "evaluate/share.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace buoy::evaluate {
namespace {

// z with P(|Z| < z) = level for a standard normal Z, by bisection: erf(z / sqrt 2) rises with z.
double two_sided_quantile(double level) {
  double low = 0, high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::sqrt(2.0)) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

Estimate share_estimate(std::size_t having, std::size_t items, double level) {
  BUOY_CHECK(items > 0 && having <= items);
  const double n = static_cast<double>(items), p = static_cast<double>(having) / n;
  const double z = two_sided_quantile(level), z2 = z * z;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return {p, {having == 0 ? 0.0 : middle - half, having == items ? 1.0 : middle + half}, items};
}

Estimate mean_estimate(std::span<const double> scores, const BootstrapOptions& options) {
  const bool shares =
      !scores.empty() && std::all_of(scores.begin(), scores.end(), [](double s) { return s == 0 || s == 1; });
  if (!shares) return bootstrap_mean(scores, options);
  return share_estimate(static_cast<std::size_t>(std::count(scores.begin(), scores.end(), 1.0)),
                        scores.size(), options.level);
}

}  // namespace buoy::evaluate

#include "buoy/stats/student_t.h"

#include <cmath>
#include <numbers>

#include "buoy/base/error.h"

namespace buoy::stats {
namespace {

// Above, the expansion in 1 / freedom is exact to ten digits, and the sum below would grow long.
constexpr std::int64_t kExactFreedom = 200;

// x with f(x) = level, of a function that rises from f(0) <= level.
template <typename Rising>
double solve(const Rising& f, double level) {
  double low = 0, high = 1;
  while (f(high) < level && high < 1e300) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (f(middle) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double normal_tail(double z) {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

double two_sided_normal(double level) {
  BUOY_CHECK(level > 0 && level < 1);
  return solve([](double z) { return std::erf(z / std::numbers::sqrt2); }, level);
}

// Abramowitz and Stegun 26.7.3 and 26.7.4: finite sums in the angle of t.
double within_t(double t, std::int64_t freedom) {
  BUOY_CHECK(freedom >= 1 && t >= 0);
  const auto n = static_cast<double>(freedom);
  const double angle = std::atan(t / std::sqrt(n));
  const double sine = std::sin(angle), cosine = std::cos(angle), square = cosine * cosine;
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1, sum = freedom == 1 ? 0 : term;
  for (std::int64_t k = odd ? 3 : 2; k < freedom; k += 2) {
    const auto at = static_cast<double>(k);
    term *= square * (at - 1) / at;
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
}

double two_sided_t(double level, std::int64_t freedom) {
  BUOY_CHECK(level > 0 && level < 1 && freedom >= 1);
  if (freedom <= kExactFreedom) return solve([&](double t) { return within_t(t, freedom); }, level);
  // 26.7.5, from the quantile of the normal distribution.
  const double z = two_sided_normal(level), s = z * z, n = 1 / static_cast<double>(freedom);
  const double g1 = z * (s + 1) / 4;
  const double g2 = z * ((5 * s + 16) * s + 3) / 96;
  const double g3 = z * (((3 * s + 19) * s + 17) * s - 15) / 384;
  const double g4 = z * ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160;
  return z + n * (g1 + n * (g2 + n * (g3 + n * g4)));
}

double two_sided_t_between(double level, double freedom) {
  BUOY_CHECK(freedom >= 1);
  const double below = std::floor(freedom);
  const double lower = two_sided_t(level, static_cast<std::int64_t>(below));
  if (below == freedom) return lower;
  const double share = (1 / below - 1 / freedom) / (1 / below - 1 / (below + 1));
  return lower * std::pow(two_sided_t(level, static_cast<std::int64_t>(below) + 1) / lower, share);
}

}  // namespace buoy::stats

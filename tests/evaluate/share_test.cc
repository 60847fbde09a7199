#include "evaluate/share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace buoy::evaluate {
namespace {

// Newcombe (1998), table I, method 3: Wilson's interval without continuity correction.
TEST(Share, AgreesWithPublishedIntervals) {
  struct Case {
    std::size_t having, items;
    double low, high;
  };
  for (const auto& c : {Case{81, 263, 0.2553, 0.3662}, Case{15, 148, 0.0624, 0.1605},
                        Case{0, 20, 0.0, 0.1611}, Case{1, 29, 0.0061, 0.1718}}) {
    const auto estimate = share_estimate(c.having, c.items, 0.95);
    EXPECT_NEAR(estimate.interval.low, c.low, 5e-5);
    EXPECT_NEAR(estimate.interval.high, c.high, 5e-5);
  }
}

double binomial_chance(int n, int k, double p) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(p) +
                  (n - k) * std::log(1 - p));
}

// Exact coverage, summed over all outcomes, stays near what is said (Wilson's is known to dip a little).
TEST(Share, CoversNearTheStatedRate) {
  for (const int n : {20, 100, 500}) {
    double sum = 0;
    int points = 0;
    for (double p = 0.05; p < 0.96; p += 0.01) {
      double covered = 0;
      for (int k = 0; k <= n; ++k) {
        if (share_estimate(static_cast<std::size_t>(k), static_cast<std::size_t>(n), 0.95)
                .interval.contains(p))
          covered += binomial_chance(n, k, p);
      }
      EXPECT_GT(covered, 0.90) << n << ' ' << p;
      sum += covered;
      ++points;
    }
    EXPECT_NEAR(sum / points, 0.95, 0.01) << n;
  }
}

TEST(Share, MeansThatAreNoSharesAreResampled) {
  const std::vector<double> shares(30, 1.0), scores = {0.5, 1, 0, 0.25};
  EXPECT_LT(mean_estimate(shares, {}).interval.low, 0.95);
  EXPECT_DOUBLE_EQ(mean_estimate(scores, {}).value, 0.4375);
  EXPECT_DOUBLE_EQ(mean_estimate(scores, {}).interval.low, bootstrap_mean(scores, {}).interval.low);
}

}  // namespace
}  // namespace buoy::evaluate

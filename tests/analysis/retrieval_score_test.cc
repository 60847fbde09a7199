#include "buoy/analysis/retrieval/retrieval_score.h"

#include <gtest/gtest.h>

#include <cmath>

namespace buoy::analysis {
namespace {

TEST(PoissonTail, KnownValues) {
  EXPECT_EQ(poisson_tail(0, 3.0), 1);
  EXPECT_EQ(poisson_tail(2, 0.0), 0);
  EXPECT_NEAR(poisson_tail(1, 2.0), 1 - std::exp(-2.0), 1e-14);
  // Below the mean: 1 - e^-4 (1 + 4 + 8).
  EXPECT_NEAR(poisson_tail(3, 4.0), 1 - 13 * std::exp(-4.0), 1e-14);
  // Far out a difference from 1 would lose all digits: e^-1 / 20! (1 + 1/21 + 1/(21*22) + ...).
  double series = 1, term = 1;
  for (int k = 21; k < 60; ++k) series += term /= k;
  EXPECT_NEAR(poisson_tail(20, 1.0) / (std::exp(-1.0 - std::lgamma(21.0)) * series), 1, 1e-10);
}

TEST(PoissonTail, BoundsDrawsOfUnequalChances) {
  // Exact distribution of 12 independent hits with chances 0.02, 0.04, ..., 0.24 (mean 1.56) by convolution.
  std::vector<double> exact = {1};
  double mean = 0;
  for (int i = 1; i <= 12; ++i) {
    const double chance = 0.02 * i;
    mean += chance;
    exact.push_back(0);
    for (size_t k = exact.size() - 1; k > 0; --k) exact[k] = exact[k] * (1 - chance) + exact[k - 1] * chance;
    exact[0] *= 1 - chance;
  }
  for (std::int64_t k = 3; k <= 12; ++k) {
    double tail = 0;
    for (size_t i = static_cast<size_t>(k); i < exact.size(); ++i) tail += exact[i];
    EXPECT_LE(tail, poisson_tail(k, mean)) << k;
  }
}

TEST(NeedleRecall, CountsTokensAsOftenAsBothHaveThem) {
  const Needle needle{{}, {{7, 2}, {8, 1}}, 3};
  EXPECT_DOUBLE_EQ(needle_recall(needle, std::vector<std::int32_t>{7, 9, 7, 7}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(needle_recall(needle, std::vector<std::int32_t>{8}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(needle_recall(needle, std::vector<std::int32_t>{}), 0);
}

}  // namespace
}  // namespace buoy::analysis

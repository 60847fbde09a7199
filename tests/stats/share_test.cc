#include "buoy/stats/share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace buoy::stats {
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
    EXPECT_NEAR(estimate.lower, c.low, 5e-5);
    EXPECT_NEAR(estimate.upper, c.high, 5e-5);
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
                .interval()
                .contains(p))
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
  EXPECT_LT(mean_estimate(shares, {}).lower, 0.95);
  EXPECT_DOUBLE_EQ(mean_estimate(scores, {}).value, 0.4375);
  EXPECT_DOUBLE_EQ(mean_estimate(scores, {}).lower, bootstrap_mean(scores, {}).lower);
}

// Outcomes of n items asked twice: right both times, only the first time, only the second, never.
struct Pairs {
  int both, only_a, only_b, neither;

  Estimate difference() const {
    std::vector<double> a, b;
    const auto add = [&](int count, double first, double second) {
      a.insert(a.end(), static_cast<std::size_t>(count), first);
      b.insert(b.end(), static_cast<std::size_t>(count), second);
    };
    add(both, 1, 1), add(only_a, 1, 0), add(only_b, 0, 1), add(neither, 0, 0);
    return difference_estimate({a, b}, {});
  }
};

// With one share certain, the difference is as uncertain as the other share: Wilson's interval, shifted.
TEST(PairedShares, OneShareOfNoDoubtLeavesTheOthersInterval) {
  const auto gain = Pairs{0, 20, 0, 0}.difference();  // right with passages, never without
  EXPECT_EQ(gain.value, 1);
  EXPECT_EQ(gain.upper, 1);
  const double missing = 1 - share_estimate(20, 20, 0.95).lower;
  EXPECT_NEAR(gain.lower, 1 - std::hypot(missing, missing), 1e-12);
  const auto same = Pairs{20, 0, 0, 0}.difference();
  EXPECT_EQ(same.value, 0);
  EXPECT_NEAR(same.lower, -missing, 1e-12);
  EXPECT_NEAR(same.upper, missing, 1e-12);
}

TEST(PairedShares, ExchangedTheDifferenceTurnsRound) {
  const auto one = Pairs{9, 5, 2, 4}.difference(), other = Pairs{9, 2, 5, 4}.difference();
  EXPECT_NEAR(one.value, 0.15, 1e-12);
  EXPECT_NEAR(one.lower, -other.upper, 1e-12);
  EXPECT_NEAR(one.upper, -other.lower, 1e-12);
}

TEST(PairedShares, AgreeingItemsNarrowTheInterval) {
  const auto width = [](const Pairs& pairs) {
    const auto interval = pairs.difference();
    return interval.upper - interval.lower;
  };
  EXPECT_LT(width({20, 2, 2, 20}), width({11, 11, 11, 11}));  // shares of a half each time
  EXPECT_LT(width({11, 11, 11, 11}), width({2, 20, 20, 2}));
}

// Exact coverage over all outcomes of 30 items, for shares that go together, are independent, or exclude each
// other.
TEST(PairedShares, CoverNearTheStatedRate) {
  constexpr int kItems = 30;
  struct Chances {
    double both, only_a, only_b, neither;
  };
  double sum = 0;
  int points = 0;
  for (const auto& c :
       {Chances{0.5, 0.1, 0.1, 0.3}, Chances{0.25, 0.25, 0.25, 0.25}, Chances{0.1, 0.4, 0.4, 0.1},
        Chances{0.3, 0.6, 0.02, 0.08}, Chances{0.01, 0.95, 0.01, 0.03}, Chances{0.93, 0.04, 0.02, 0.01}}) {
    double covered = 0;
    for (int both = 0; both <= kItems; ++both) {
      for (int only_a = 0; both + only_a <= kItems; ++only_a) {
        for (int only_b = 0; both + only_a + only_b <= kItems; ++only_b) {
          const int neither = kItems - both - only_a - only_b;
          const double chance = std::exp(
              std::lgamma(kItems + 1.0) - std::lgamma(both + 1.0) - std::lgamma(only_a + 1.0) -
              std::lgamma(only_b + 1.0) - std::lgamma(neither + 1.0) + both * std::log(c.both) +
              only_a * std::log(c.only_a) + only_b * std::log(c.only_b) + neither * std::log(c.neither));
          if (chance < 1e-9) continue;
          if (Pairs{both, only_a, only_b, neither}.difference().interval().contains(c.only_a - c.only_b))
            covered += chance;
        }
      }
    }
    EXPECT_GT(covered, 0.92) << c.both << ' ' << c.only_a;
    sum += covered;
    ++points;
  }
  EXPECT_NEAR(sum / points, 0.955, 0.015);
}

TEST(PairedShares, ScoresThatAreNoSharesAreResampled) {
  const std::vector<double> a = {0.5, 1, 0, 0.25}, b = {0, 1, 0, 1};
  const auto drawn = bootstrap_difference({a, b}, {}), estimate = difference_estimate({a, b}, {});
  EXPECT_EQ(estimate.lower, drawn.lower);
  EXPECT_EQ(estimate.upper, drawn.upper);
}

// Three of twelve items lose a half, none gains: resampling would be sure that nobody ever gains.
TEST(PairedShares, ASignThatNoItemHasIsNotRuledOut) {
  std::vector<double> a(12, 1.0), b(12, 1.0);
  for (std::size_t i = 0; i < 3; ++i) a[i] = 0.5;
  const auto drawn = bootstrap_difference({a, b}, {}), estimate = difference_estimate({a, b}, {});
  EXPECT_EQ(drawn.upper, 0);
  EXPECT_NEAR(estimate.upper, share_estimate(0, 12, 0.95).upper, 1e-12);
  EXPECT_EQ(estimate.lower, drawn.lower);
  const std::vector<double> words(12, 3.0), fewer(12, 2.0);  // no scores: nothing bounds them
  EXPECT_EQ(difference_estimate({words, fewer}, {}).lower, 1);
}

// r is an end of the interval when a - r b has 0 as an end of its own: squared distances of both ends add up.
TEST(RatioInterval, SolvesWhatDefinesIt) {
  for (const auto& [a, b] : {std::pair{Estimate{0.6, 0.4, 0.7, 30}, Estimate{0.3, 0.1, 0.5, 30}},
                             std::pair{Estimate{0.1, -0.1, 0.4, 30}, Estimate{0.1, 0.02, 0.35, 30}},
                             std::pair{Estimate{-0.2, -0.5, 0.1, 30}, Estimate{0.4, 0.3, 0.45, 30}}}) {
    const auto ratio = ratio_interval(a, b);
    EXPECT_LE(ratio.lower, a.value / b.value);
    EXPECT_GE(ratio.upper, a.value / b.value);
    const auto end = [&](double r, double a_side, double b_side) {
      return std::abs(a.value - r * b.value) - std::hypot(a_side - a.value, r * (b_side - b.value));
    };
    EXPECT_NEAR(end(ratio.lower, a.lower, ratio.lower > 0 ? b.upper : b.lower), 0, 1e-9);
    EXPECT_NEAR(end(ratio.upper, a.upper, ratio.upper > 0 ? b.lower : b.upper), 0, 1e-9);
    const auto turned =
        ratio_interval({-a.value, -a.upper, -a.lower, 30}, {-b.value, -b.upper, -b.lower, 30});
    EXPECT_DOUBLE_EQ(turned.lower, ratio.lower);
    EXPECT_DOUBLE_EQ(turned.upper, ratio.upper);
  }
}

}  // namespace
}  // namespace buoy::stats

#include "buoy/stats/arms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/random.h"
#include "buoy/stats/mean_interval.h"
#include "support/fails_with.h"

namespace buoy::stats {
namespace {

using testing::fails_with;

double drawn(std::uint32_t set, std::uint32_t index) {
  return normal(29, {DrawStream::kWeights, 5, set, index});
}

// Networks of an arm, each asked the same questions: their effects, those of questions, and of both together.
struct Effects {
  const char* name;
  double network, question, both;
};
constexpr std::uint32_t kQuestions = 40;

std::vector<NetworkNumber> arm_of(const Effects& effects, std::uint32_t set, std::uint32_t first,
                                  std::uint32_t count, double planted = 0) {
  std::vector<NetworkNumber> out;
  for (std::uint32_t n = first; n < first + count; ++n) {
    double sum = 0, squares = 0;
    for (std::uint32_t q = 0; q < kQuestions; ++q) {
      const double value = planted + effects.network * drawn(set, n) +
                           effects.question * drawn(set, 100 + q) +
                           effects.both * drawn(set, 1000 * (n + 1) + q);
      sum += value, squares += value * value;
    }
    const double mean = sum / kQuestions, variance = squares / kQuestions - mean * mean;
    out.push_back({mean, std::sqrt(variance / (kQuestions - 1)), kQuestions});
  }
  return out;
}

constexpr Effects kEffects[] = {
    {"1, 1, 1", 1, 1, 1}, {".3, 1, 1", 0.3, 1, 1}, {".1, 1, 1", 0.1, 1, 1}, {".3, .1, 1", 0.3, 0.1, 1}};
constexpr std::uint32_t kSets = 2000;  // the error of a coverage of 95% is 0.005

TEST(Arms, StudentsTWhereQuestionsAreSure) {
  // 1 to 5: deviation with n - 1 is sqrt(2.5), its error sqrt(0.5).
  std::vector<NetworkNumber> five;
  for (const double value : {1, 2, 3, 4, 5}) five.push_back({value, 0, 40});
  const Estimate estimate = arm_estimate(arm_mean(five), 0.95);
  EXPECT_DOUBLE_EQ(estimate.value, 3);
  EXPECT_NEAR(estimate.upper, 3 + 2.776445 * std::sqrt(0.5), 1e-5);
  EXPECT_NEAR(estimate.lower, 3 - 2.776445 * std::sqrt(0.5), 1e-5);
  EXPECT_EQ(estimate.samples, 5);
}

TEST(Arms, WhatQuestionsAddDoesNotShrinkWithNetworks) {
  const std::vector<NetworkNumber> alike(20, {1, 0.1, 41});
  const Estimate estimate = arm_estimate(arm_mean(alike), 0.95);
  EXPECT_NEAR(estimate.upper - estimate.value, 0.1 * 2.021075, 1e-5) << "t of 40 degrees of freedom";
  EXPECT_TRUE(std::isnan(arm_estimate(arm_mean(std::vector<NetworkNumber>{{1, 0.1, 41}}), 0.95).lower));
  EXPECT_TRUE(fails_with<UsageError>([] { arm_mean({}); }, {"networks", "none"}));
}

TEST(Arms, AreComparedByWelch) {
  // Variances 2.5 and 10 of five each: error sqrt(2.5), degrees of freedom 25 / (1 + 16) * 4 = 5.882.
  std::vector<NetworkNumber> one, other;
  for (const double value : {1, 2, 3, 4, 5})
    one.push_back({value, 0, 40}), other.push_back({2 * value, 0, 40});
  const Estimate difference = difference_of_arms(arm_mean(one), arm_mean(other), 0.95);
  EXPECT_DOUBLE_EQ(difference.value, -3);
  EXPECT_NEAR(difference.upper - difference.value, 2.458898 * std::sqrt(2.5), 2e-3);
}

TEST(Arms, RatiosHoldTheFactorsForWhichTheDifferenceMayBeZero) {
  std::vector<NetworkNumber> one, other;
  for (const double value : {.50, .52, .48, .51, .49})
    one.push_back({value, 0, 40}), other.push_back({value / 2 + .01, 0, 40});
  const ArmMean a = arm_mean(one), b = arm_mean(other);
  const Estimate ratio = ratio_of_arms(a, b, 0.95);
  EXPECT_NEAR(ratio.value, 0.5 / 0.26, 1e-12);
  EXPECT_NEAR(difference_of_arms(a, b, 0.95, ratio.lower).lower, 0, 2e-3);
  EXPECT_NEAR(difference_of_arms(a, b, 0.95, ratio.upper).upper, 0, 2e-3);
  for (auto& number : other) number.value -= 0.26;
  EXPECT_TRUE(std::isnan(ratio_of_arms(a, arm_mean(other), 0.95).lower)) << "a divisor that may be 0";
}

TEST(Arms, AnIntervalTellsItsError) {
  EXPECT_NEAR(error_of_interval({-1.959964, 1.959964}, 0.95), 1, 1e-6);
}

// What five networks per arm cover: at least 95%, and how much more where the squared error of one network is
// far above what all share.
TEST(Arms, CoverageOfFiveNetworks) {
  fmt::print(
      "| deviations: network, question, both | one arm | two arms, the same questions |\n|---|---|---|\n");
  for (const auto& effects : kEffects) {
    double one_arm = 0, two_arms = 0;
    for (std::uint32_t set = 0; set < kSets; ++set) {
      const ArmMean a = arm_mean(arm_of(effects, set, 0, 5)), b = arm_mean(arm_of(effects, set, 5, 5));
      one_arm += arm_estimate(a, 0.95).interval().contains(0) ? 1.0 / kSets : 0;
      two_arms += difference_of_arms(a, b, 0.95).interval().contains(0) ? 1.0 / kSets : 0;
    }
    fmt::print("| {} | {:.3f} | {:.3f} |\n", effects.name, one_arm, two_arms);
    EXPECT_GE(one_arm, 0.93) << effects.name;
    EXPECT_GE(two_arms, 0.94) << effects.name;
  }
}

// Correlations of few questions whose intervals reach beyond 1. What is cut off costs no coverage of the
// network itself; five networks whose errors are taken from what is left cover as often as before.
TEST(Arms, CoverageOfCorrelationsThatAreClipped) {
  constexpr std::uint32_t kFew = 12, kNetworks = 5, kManySets = 1000;
  const auto value = [](double network, double question) {
    return std::tanh(1.8 + 0.3 * network + question);
  };
  double truth = 0;
  for (std::uint32_t i = 0; i < 200'000; ++i)
    truth += value(drawn(1'000'000, 2 * i), drawn(1'000'000, 2 * i + 1)) / 200'000;
  double as_it_is = 0, as_clipped = 0, clipped_ends = 0;
  for (std::uint32_t set = 0; set < kManySets; ++set) {
    std::vector<NetworkNumber> whole, cut;
    for (std::uint32_t n = 0; n < kNetworks; ++n) {
      double sum = 0, squares = 0;
      for (std::uint32_t q = 0; q < kFew; ++q) {
        const double one = value(drawn(set, n), drawn(set, 100 + q));
        sum += one, squares += one * one;
      }
      const double mean = sum / kFew, error = std::sqrt((squares / kFew - mean * mean) / (kFew - 1));
      const Interval interval = student_interval({mean, error, kFew}, 0.95);
      const Estimate estimate{mean, interval.lower, interval.upper, kFew};
      const Estimate possible = clipped(estimate, kCorrelations);
      EXPECT_LE(possible.upper, 1);
      EXPECT_GE(possible.lower, -1);
      EXPECT_EQ(possible.lower, std::max(-1.0, estimate.lower));
      clipped_ends += possible.upper < estimate.upper ? 1.0 / (kManySets * kNetworks) : 0;
      whole.push_back({mean, error_of_interval(estimate.interval(), 0.95), kFew});
      cut.push_back({mean, error_of_interval(possible.interval(), 0.95), kFew});
    }
    as_it_is += arm_estimate(arm_mean(whole), 0.95).interval().contains(truth) ? 1.0 / kManySets : 0;
    as_clipped += arm_estimate(arm_mean(cut), 0.95).interval().contains(truth) ? 1.0 / kManySets : 0;
  }
  fmt::print("correlations: {:.3f} covered, {:.3f} with {:.2f} of the ends clipped\n", as_it_is, as_clipped,
             clipped_ends);
  EXPECT_GT(clipped_ends, 0.2) << "otherwise this shows nothing";
  EXPECT_GE(as_clipped, as_it_is - 0.01) << "so skewed, with 12 questions, neither is 0.95";
}

// "Five seeds per arm find 2.0 between-seed deviations" with 80%.
TEST(Arms, FivePerArmFindAPlantedDifferenceAndNoneWhereThereIsNone) {
  constexpr Effects kSeeds{"seeds", 1, 0.3, 1};
  double found = 0, found_nothing_there = 0;
  for (std::uint32_t set = 0; set < kSets; ++set) {
    const ArmMean a = arm_mean(arm_of(kSeeds, set, 0, 5)), b = arm_mean(arm_of(kSeeds, set, 5, 5));
    const ArmMean planted = arm_mean(arm_of(kSeeds, set, 0, 5, 2.2));
    found += difference_of_arms(planted, b, 0.95).lower > 0 ? 1.0 / kSets : 0;
    found_nothing_there += difference_of_arms(a, b, 0.95).interval().contains(0) ? 0 : 1.0 / kSets;
  }
  fmt::print("five per arm, 2.2 between-seed deviations apart: found in {:.3f}; with no difference {:.3f}\n",
             found, found_nothing_there);
  EXPECT_GE(found, 0.8);
  EXPECT_LE(found_nothing_there, 0.05 + 0.01);
}

}  // namespace
}  // namespace buoy::stats

#include "buoy/stats/mean_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace buoy::stats {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(TailValues, TheKthOfRHasKOverRPlusOneBelow) {
  std::vector<double> values;
  for (int i = 99; i >= 1; --i) values.push_back(i);
  EXPECT_DOUBLE_EQ(tail_values(values, 0.05).lower, 5);
  EXPECT_DOUBLE_EQ(tail_values(values, 0.05).upper, 95);
  EXPECT_NEAR(tail_values(values, 0.025).lower, 2.5, 1e-12);
  EXPECT_NEAR(tail_values(values, 0.025).upper, 97.5, 1e-12);
  EXPECT_EQ(tail_values(values, 0.001).lower, 1) << "no value lies further out";
  EXPECT_EQ(tail_values(values, 0.001).upper, 99);
  EXPECT_TRUE(std::isnan(tail_values({}, 0.05).lower));
}

TEST(TailValues, BesideAnInfiniteOneTheOuterCounts) {
  std::vector<double> values = {-kInfinite, -kInfinite};
  for (int i = 3; i <= 99; ++i) values.push_back(i);
  EXPECT_EQ(tail_values(values, 0.025).lower, -kInfinite);
  EXPECT_DOUBLE_EQ(tail_values(values, 0.03).lower, 3);
  EXPECT_NEAR(tail_values(values, 0.025).upper, 97.5, 1e-12);
}

// Values 2 and 4 of 10 samples each way: t is the offset over the error of its own resample.
std::vector<ResampledMean> symmetric_resamples(double step) {
  std::vector<ResampledMean> out;
  for (int i = -499; i <= 499; ++i) out.push_back({step * i, 0.5});
  return out;
}

TEST(MeanInterval, EndsAreStudentisedOffsetsTurnedRound) {
  auto resamples = symmetric_resamples(0.001);
  // A longer tail above: the interval grows below.
  for (auto& one : resamples) one.error = one.offset > 0 ? 0.25 : 0.5;
  const auto [lower, upper] = mean_interval({10, 2, 20}, resamples, 0.95);
  EXPECT_NEAR(upper, 10 + 2 * 0.475 / 0.5, 1e-9);
  EXPECT_NEAR(lower, 10 - 2 * 0.475 / 0.25, 1e-9);
}

TEST(MeanInterval, FewSamplesHaveStudentsT) {
  const auto resamples = symmetric_resamples(0.001);
  const auto [lower, upper] = mean_interval({0, 1, 5}, resamples, 0.95);
  // The error of the mean from the deviation with n - 1.
  EXPECT_NEAR(upper, 2.776445 * std::sqrt(5.0 / 4), 1e-5);
  EXPECT_NEAR(lower, -upper, 1e-12);
  EXPECT_NEAR(mean_interval({0, 1, 2}, resamples, 0.95).upper, 12.7062 * std::sqrt(2.0), 1e-3);
}

TEST(MeanInterval, OneSampleHasNoneAndEqualSamplesHaveNoWidth) {
  EXPECT_TRUE(std::isnan(mean_interval({3, 0, 1}, {}, 0.95).lower));
  EXPECT_TRUE(std::isnan(student_interval({3, 0, 1}, 0.95).upper));
  const auto [lower, upper] = mean_interval({3, 0, 20}, {}, 0.95);
  EXPECT_EQ(lower, 3);
  EXPECT_EQ(upper, 3);
}

TEST(MeanInterval, ResamplesWithoutSpreadOpenOneSideOnly) {
  auto resamples = symmetric_resamples(0.001);
  const double inner = mean_interval({1, 0.1, 24}, resamples, 0.95).lower;
  for (int i = 0; i < 100; ++i) resamples[static_cast<std::size_t>(i)].error = 0;  // the lowest
  const auto [lower, upper] = mean_interval({1, 0.1, 24}, resamples, 0.95);
  EXPECT_EQ(lower, inner) << "the other side knows its end";
  const double student = student_interval({1, 0.1, 24}, 0.95).upper;
  EXPECT_TRUE(std::isfinite(upper));
  EXPECT_GE(upper, student);
  EXPECT_NEAR(upper, 1.48, 0.005) << "the percentile lies further out here";
}

TEST(MeanInterval, ExpandedTailsAreThoseOfStudentsT) {
  EXPECT_NEAR(expanded_tail(0.95, 5), 0.002748, 1e-5);  // of the normal distribution beyond 2.776
  EXPECT_NEAR(expanded_tail(0.95, 1'000'000), 0.025, 1e-6);
}

}  // namespace
}  // namespace buoy::stats

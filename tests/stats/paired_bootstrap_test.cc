#include "buoy/stats/paired_bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "buoy/base/error.h"
#include "buoy/base/random.h"
#include "buoy/stats/gains.h"
#include "support/fails_with.h"

namespace buoy::stats {
namespace {

using testing::fails_with;
using Column = std::vector<double>;

constexpr BootstrapOptions kFast{.replicates = 2000, .seed = 0};

// Test data: `index` counts the values of data set `set`.
double draw(std::uint32_t set, std::uint32_t index) {
  return uniform(17, {DrawStream::kWeights, 1, set, index});
}

// Two models on the same items: right with chance 0.5 and 0.3, the easier an item the likelier both.
struct Pair {
  Column a, b;
};

Pair simulated_pair(std::uint32_t set, std::uint32_t items) {
  Pair pair;
  for (std::uint32_t i = 0; i < items; ++i) {
    const double ease = draw(set, 3 * i);
    pair.a.push_back(draw(set, 3 * i + 1) < ease ? 1 : 0);
    pair.b.push_back(draw(set, 3 * i + 2) < 0.6 * ease ? 1 : 0);
  }
  return pair;
}

TEST(Bootstrap, TheValueIsThePlainMean) {
  const Column scores = {0, 1, 1, 0.5};
  const Estimate estimate = bootstrap_mean(scores, kFast);
  EXPECT_DOUBLE_EQ(estimate.value, 0.625);
  EXPECT_EQ(estimate.samples, 4);
  EXPECT_TRUE(estimate.interval().contains(0.625));
  EXPECT_GE(estimate.lower, 0);
  EXPECT_LE(estimate.upper, 1);
}

TEST(Bootstrap, EqualScoresHaveNoWidth) {
  const Column scores(20, 0.25);
  const Estimate estimate = bootstrap_mean(scores, kFast);
  EXPECT_EQ(estimate.lower, 0.25);
  EXPECT_EQ(estimate.upper, 0.25);
}

TEST(Bootstrap, TheSeedDecides) {
  const Pair pair = simulated_pair(1, 60);
  const Estimate first = bootstrap_mean(pair.a, {.replicates = 501, .seed = 1});
  const Estimate again = bootstrap_mean(pair.a, {.replicates = 501, .seed = 1});
  EXPECT_EQ(first.lower, again.lower);
  EXPECT_EQ(first.upper, again.upper);
  const ScoreTable table{{pair.a}};
  const auto values = [&](std::uint64_t seed) {
    return bootstrap_values({&table, 1}, [](auto means) { return means[0]; },
                            {.replicates = 501, .seed = seed});
  };
  EXPECT_EQ(values(1), values(1));
  EXPECT_NE(values(1), values(2));
}

TEST(Bootstrap, SpreadIsThatOfTheMean) {
  const Pair pair = simulated_pair(2, 400);
  const ScoreTable table{{pair.a}};
  const auto values =
      bootstrap_values({&table, 1}, [](auto means) { return means[0]; }, {.replicates = 4000, .seed = 0});
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 4000;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double p = std::accumulate(pair.a.begin(), pair.a.end(), 0.0) / 400;
  const double expected = std::sqrt(p * (1 - p) / 400);
  EXPECT_NEAR(mean, p, 4 * expected / std::sqrt(4000.0));
  EXPECT_NEAR(std::sqrt(squares / 4000), expected, 4 * expected / std::sqrt(2 * 4000.0));
}

TEST(Bootstrap, DifferencesArePaired) {
  const Pair pair = simulated_pair(3, 200);
  Column better = pair.a;
  for (double& score : better) score += 0.125;
  const Estimate shift = bootstrap_difference({better, pair.a}, kFast);
  EXPECT_NEAR(shift.lower, 0.125, 1e-12) << "the same items on both sides leave no spread";
  EXPECT_NEAR(shift.upper, 0.125, 1e-12);
  const Estimate difference = bootstrap_difference({pair.a, pair.b}, kFast);
  const Estimate reversed = bootstrap_difference({pair.b, pair.a}, kFast);
  EXPECT_DOUBLE_EQ(difference.value, -reversed.value);
  EXPECT_DOUBLE_EQ(difference.lower, -reversed.upper);
}

TEST(Bootstrap, PercentilesLeaveOutAsManyOnBothSides) {
  Column values(1000);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(percentile_interval(values, 0.95).lower, 25);
  EXPECT_EQ(percentile_interval(values, 0.95).upper, 974);
  EXPECT_EQ(percentile_interval(values, 0.9).lower, 50);
}

TEST(Bootstrap, DataSetsAreDrawnApart) {
  const Column small = {0, 1}, large(500, 0.5);
  const std::vector<ScoreTable> tables = {{{small}}, {{large}}};
  const Estimate average = bootstrap(
      tables, [](std::span<const double> means) { return (means[0] + means[1]) / 2; }, kFast);
  EXPECT_DOUBLE_EQ(average.value, 0.5);
  EXPECT_EQ(average.samples, 502);
  EXPECT_DOUBLE_EQ(average.lower, 0.25) << "each resample keeps the size of every set";
  EXPECT_DOUBLE_EQ(average.upper, 0.75);
}

TEST(Bootstrap, NineteenOfTwentyIntervalsHoldTheTruth) {
  constexpr int kSets = 400;
  int mean_covered = 0, difference_covered = 0, gain_covered = 0;
  for (std::uint32_t set = 0; set < kSets; ++set) {
    const Pair pair = simulated_pair(100 + set, 80);
    const BootstrapOptions options{.replicates = 600, .seed = set};
    mean_covered += bootstrap_mean(pair.a, options).interval().contains(0.5);
    difference_covered += bootstrap_difference({pair.a, pair.b}, options).interval().contains(0.2);
    Column skewed;
    for (std::uint32_t i = 0; i < 80; ++i) skewed.push_back(std::pow(draw(set, 1'000 + i), 2));
    gain_covered += rag_gain(ModelScores{skewed, pair.b}, options).interval().contains(1.0 / 3 - 0.3);
  }
  for (const int covered : {mean_covered, difference_covered, gain_covered}) {
    EXPECT_GE(covered, 0.92 * kSets);
    EXPECT_LE(covered, 0.975 * kSets);
  }
}

TEST(Bootstrap, RequestsThatMakeNoSense) {
  const Column two = {0, 1}, three = {0, 1, 1}, none;
  EXPECT_TRUE(fails_with<UsageError>(
      [&] {
        bootstrap_difference({two, three}, kFast);
      },
      {"2 paired scores", "3"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { bootstrap_mean(none, kFast); }, {"at least one item", "none"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { bootstrap_mean(two, {.replicates = 10, .seed = 0}); },
                                     {"100 resamples", "10"}));
  EXPECT_TRUE(
      fails_with<UsageError>([&] { bootstrap_mean(two, {.confidence = 1}); }, {"between 0 and 1", "1"}));
  EXPECT_TRUE(fails_with<UsageError>(
      [&] {
        bootstrap(
            {}, [](auto) { return 0.0; }, kFast);
      },
      {"at least one data"}));
}

// Gains of `size` and of `size` * `factor` on the same items, with noise.
struct Gains {
  Column closed, small, large;
};

Gains simulated_gains(std::uint32_t set, double size, double factor) {
  Gains gains;
  for (std::uint32_t i = 0; i < 100; ++i) {
    gains.closed.push_back(draw(set, 3 * i));
    gains.small.push_back(gains.closed.back() + size + 0.5 * (draw(set, 3 * i + 1) - 0.5));
    gains.large.push_back(gains.closed.back() + size * factor + 0.5 * (draw(set, 3 * i + 2) - 0.5));
  }
  return gains;
}

TEST(Gains, OfAKindIsTheMeanOverItsModels) {
  const Gains gains = simulated_gains(5, 0.1, 2);
  const std::vector<ModelScores> kind = {{gains.small, gains.closed}, {gains.large, gains.closed}};
  const double apart = (rag_gain(kind[0], kFast).value + rag_gain(kind[1], kFast).value) / 2;
  EXPECT_NEAR(rag_gain(kind, kFast).value, apart, 1e-12);
  EXPECT_NEAR(rag_gain(kind[0], kFast).value, 0.1, 0.05);
  EXPECT_TRUE(
      fails_with<UsageError>([] { rag_gain(std::span<const ModelScores>(), kFast); }, {"one model", "none"}));
}

TEST(Gains, RatioOfTwoKinds) {
  int covered = 0;
  for (std::uint32_t set = 0; set < 100; ++set) {
    const Gains gains = simulated_gains(600 + set, 0.1, 2);
    const ModelScores large{gains.large, gains.closed}, small{gains.small, gains.closed};
    const GainRatio result = gain_ratio({&large, 1}, {&small, 1}, {.replicates = 500, .seed = set});
    ASSERT_TRUE(result.ratio.has_value());
    EXPECT_NEAR(result.ratio->value, result.numerator.value / result.denominator.value, 1e-12);
    covered += result.ratio->interval().contains(2);
  }
  EXPECT_GE(covered, 89);
  EXPECT_LE(covered, 99);
}

TEST(Gains, LossesHaveARatioToo) {
  const Gains gains = simulated_gains(7, 0.1, 2);
  const ModelScores large{gains.large, gains.closed}, small{gains.small, gains.closed};
  const ModelScores large_loss{gains.closed, gains.large}, small_loss{gains.closed, gains.small};
  const GainRatio of_gains = gain_ratio({&large, 1}, {&small, 1}, kFast);
  const GainRatio of_losses = gain_ratio({&large_loss, 1}, {&small_loss, 1}, kFast);
  ASSERT_TRUE(of_losses.ratio.has_value());
  EXPECT_LT(of_losses.denominator.upper, 0);
  EXPECT_DOUBLE_EQ(of_losses.ratio->value, of_gains.ratio->value);
  EXPECT_DOUBLE_EQ(of_losses.ratio->lower, of_gains.ratio->lower);
  EXPECT_DOUBLE_EQ(of_losses.ratio->upper, of_gains.ratio->upper);
}

TEST(Gains, NoRatioToAGainThatMayBeZero) {
  const Gains gains = simulated_gains(8, 0.0, 0.0);
  Column better = gains.closed;
  for (double& score : better) score += 0.2;
  const ModelScores large{better, gains.closed}, none{gains.small, gains.closed};
  const GainRatio result = gain_ratio({&large, 1}, {&none, 1}, kFast);
  EXPECT_TRUE(result.denominator.interval().contains(0));
  EXPECT_FALSE(result.ratio.has_value());
  EXPECT_TRUE(gain_ratio({&none, 1}, {&large, 1}, kFast).ratio.has_value()) << "zero above is no problem";
}

// Some resamples have a denominator below zero, fewer than the interval leaves out.
TEST(Gains, ResamplesBeyondZeroCountAsInfinite) {
  Column closed(40, 0.0), with(40, 0.0), better(40, 1.0);
  for (std::size_t i = 0; i < 40; ++i) with[i] = i < 24 ? 1.0 : -0.5;
  for (std::size_t i = 0; i < 40; ++i) with[i] -= 0.12;
  const ModelScores above{better, closed}, below{with, closed};
  const GainRatio result = gain_ratio({&above, 1}, {&below, 1}, kFast);
  ASSERT_TRUE(result.ratio.has_value());
  const ScoreTable table{{with}};
  const auto gains = bootstrap_values(
      {&table, 1}, [](auto means) { return means[0]; }, kFast);
  const auto beyond = std::count_if(gains.begin(), gains.end(), [](double gain) { return gain <= 0; });
  EXPECT_GT(beyond, 0) << "the case this test is about";
  EXPECT_TRUE(std::isfinite(result.ratio->upper));
  EXPECT_GT(result.ratio->lower, 0);
}

}  // namespace
}  // namespace buoy::stats

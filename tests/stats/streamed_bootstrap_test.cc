#include "buoy/stats/streamed_bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/random.h"

namespace buoy::stats {
namespace {

std::string id(int n) {
  return "sample-" + std::to_string(n);
}

TEST(StreamedBootstrap, WeightsArePoissonOfMeanOneAndDependOnTheIdAlone) {
  const BootstrapOptions options{2000, 0.95, 5};
  double sum = 0, zeros = 0, count = 0;
  for (int n = 0; n < 20; ++n) {
    for (const auto w : poisson_weights(id(n), options)) sum += w, zeros += w == 0, ++count;
  }
  // Standard error of the mean 0.005, of the share of zeros 0.0024.
  EXPECT_NEAR(sum / count, 1.0, 0.02);
  EXPECT_NEAR(zeros / count, std::exp(-1.0), 0.01);
  EXPECT_EQ(poisson_weights("a", options), poisson_weights("a", options));
  EXPECT_NE(poisson_weights("a", options), poisson_weights("b", options));
}

TEST(StreamedBootstrap, MeanDeviationAndMissingValues) {
  StreamedBootstrap b(2, {100, 0.95, 1});
  b.add("x", std::vector<double>{1, 10});
  b.add("y", std::vector<double>{3, std::nan("")});
  EXPECT_DOUBLE_EQ(b.interval(0).value, 2);
  EXPECT_DOUBLE_EQ(b.interval(0).deviation, 1);
  EXPECT_EQ(b.interval(1).samples, 1);
  EXPECT_TRUE(std::isnan(b.interval(1).lower)) << "one sample has no interval";
  EXPECT_TRUE(std::isnan(StreamedBootstrap(1, {}).interval(0).value));
}

TEST(StreamedBootstrap, OrderOfSamplesDoesNotMatter) {
  StreamedBootstrap up(1, {200, 0.9, 3}), down(1, {200, 0.9, 3});
  for (int n = 0; n < 16; ++n) up.add(id(n), std::vector<double>{static_cast<double>(n)});
  for (int n = 15; n >= 0; --n) down.add(id(n), std::vector<double>{static_cast<double>(n)});
  // Sums are about the first value: rounding differs.
  EXPECT_NEAR(up.interval(0).lower, down.interval(0).lower, 1e-12);
  EXPECT_NEAR(up.interval(0).upper, down.interval(0).upper, 1e-12);
}

TEST(StreamedBootstrap, ReplicatesAreWeightedMeansHoweverManySamplesThereAre) {
  const BootstrapOptions options{.replicates = 50};
  for (const int samples : {1, 15, 16, 17, 33, 40}) {
    StreamedBootstrap sums(2, options);
    std::vector<double> weighted(50), drawn(50), weighted_some(50), drawn_some(50);
    for (int n = 0; n < samples; ++n) {
      const std::string name = id(n);
      const double value = 3 + std::sin(n);
      const bool has_second = n % 3 == 1;  // the first sample and others lack it
      sums.add(name, std::vector<double>{value, has_second ? -value : std::nan("")});
      const auto weights = poisson_weights(name, options);
      for (size_t b = 0; b < weights.size(); ++b) {
        weighted[b] += weights[b] * value;
        drawn[b] += weights[b];
        if (!has_second) continue;
        weighted_some[b] -= weights[b] * value;
        drawn_some[b] += weights[b];
      }
    }
    const auto means = sums.replicates(0), some = sums.replicates(1);
    for (size_t b = 0; b < means.size(); ++b) {
      SCOPED_TRACE(std::to_string(samples) + " samples, replicate " + std::to_string(b));
      if (drawn[b] > 0) {
        EXPECT_NEAR(means[b], weighted[b] / drawn[b], 1e-12);
      } else {
        EXPECT_TRUE(std::isnan(means[b]));
      }
      if (drawn_some[b] > 0) {
        EXPECT_NEAR(some[b], weighted_some[b] / drawn_some[b], 1e-12);
      } else {
        EXPECT_TRUE(std::isnan(some[b]));
      }
    }
  }
}

TEST(StreamedBootstrap, IntervalsOfNormalSamplesCoverTheTruth) {
  // 400 studies of 50 samples at 90%: the standard error of the coverage is 1.5%. More in coverage/.
  int covered = 0;
  for (std::uint32_t study = 0; study < 400; ++study) {
    StreamedBootstrap b(1, {400, 0.9, study});
    for (int n = 0; n < 50; ++n) {
      b.add(id(n), std::vector<double>{
                       2 + normal(study, {DrawStream::kWeights, 0, 0, static_cast<std::uint32_t>(n)})});
    }
    const Estimate i = b.interval(0);
    covered += i.lower <= 2 && 2 <= i.upper;
  }
  EXPECT_GT(covered, 400 * 0.85);
  EXPECT_LT(covered, 400 * 0.94);
}

TEST(StreamedBootstrap, ARatioOverNothingIsUndefined) {
  StreamedBootstrap a(1, {500, 0.95, 1}), b(1, {500, 0.95, 1}), zero(1, {500, 0.95, 1});
  for (int n = 0; n < 40; ++n) {
    a.add(id(n), std::vector<double>{4.0 + n % 2});
    b.add(id(n), std::vector<double>{2.0});
    zero.add(id(n), std::vector<double>{n % 2 == 0 ? 1.0 : -1.0});
  }
  EXPECT_NEAR(a.ratio(0, b, 0).value, 2.25, 1e-12);
  EXPECT_LT(a.ratio(0, b, 0).upper, 2.4);
  EXPECT_TRUE(std::isnan(a.ratio(0, zero, 0).lower));
}

TEST(StreamedBootstrap, StatisticsOfSeveralCellsComeFromTheirReplicates) {
  StreamedBootstrap b(2, {400, 0.95, 1});
  for (int n = 0; n < 30; ++n) {
    const double x = normal(4, {DrawStream::kWeights, 0, 0, static_cast<std::uint32_t>(n)});
    b.add(id(n), std::vector<double>{x, 3 * x});
  }
  EXPECT_DOUBLE_EQ(b.mean(1), b.interval(1).value);
  const auto first = b.replicates(0), second = b.replicates(1);
  std::vector<double> sums;
  for (size_t r = 0; r < first.size(); ++r) sums.push_back(second[r] - 3 * first[r]);
  const Estimate nothing = b.from_replicates(0, 30, sums);
  EXPECT_NEAR(nothing.lower, 0, 1e-12) << "cells are resampled alike";
  EXPECT_NEAR(nothing.upper, 0, 1e-12);
  EXPECT_EQ(b.from_replicates(b.mean(0), 30, first).lower, tail_values(first, expanded_tail(0.95, 30)).lower);
}

// Against the definition, from the draws.
TEST(StreamedBootstrap, MeansAreStudentised) {
  const BootstrapOptions options{999, 0.95, 7};
  StreamedBootstrap b(2, options);
  std::vector<double> values;
  std::vector<std::vector<std::uint8_t>> weights;
  const double far = 1e6;  // the spread is not lost beside it
  for (int n = 0; n < 20; ++n) {
    const double x = std::exp(normal(6, {DrawStream::kWeights, 0, 0, static_cast<std::uint32_t>(n)}));
    // The second cell knows samples 3 to 19, without 10.
    const bool known = n >= 3 && n != 10;
    b.add(id(n), std::vector<double>{n % 2 == 0 ? 1.0 : std::nan(""), known ? far + x : std::nan("")});
    if (!known) continue;
    values.push_back(x);
    weights.push_back(poisson_weights(id(n), options));
  }
  const auto mean_and_error = [&](const auto& weight) {
    double count = 0, sum = 0, square = 0;
    for (size_t i = 0; i < values.size(); ++i) count += weight(i), sum += weight(i) * values[i];
    for (size_t i = 0; i < values.size(); ++i)
      square += weight(i) * (values[i] - sum / count) * (values[i] - sum / count);
    return std::pair{sum / count, std::sqrt(square / count / count)};
  };
  const auto [mean, error] = mean_and_error([](size_t) { return 1.0; });
  std::vector<double> t;
  for (size_t r = 0; r < 999; ++r) {
    const auto [m, e] = mean_and_error([&](size_t i) { return static_cast<double>(weights[i][r]); });
    t.push_back((m - mean) / e);
  }
  std::sort(t.begin(), t.end());
  const Estimate interval = b.interval(1);
  EXPECT_EQ(interval.samples, 16);
  EXPECT_NEAR(interval.value, far + mean, 1e-9);
  EXPECT_NEAR(interval.deviation, error * 4, 1e-9);
  EXPECT_NEAR(interval.lower, far + mean - t[974] * error, 1e-8);  // the 975th of 999
  EXPECT_NEAR(interval.upper, far + mean - t[24] * error, 1e-8);
  EXPECT_GT(interval.upper - interval.value, interval.value - interval.lower) << "skewed to the right";
  EXPECT_EQ(b.interval(0).lower, 1) << "equal values have no width";
  EXPECT_EQ(b.interval(0).upper, 1);
  EXPECT_EQ(b.interval(0).deviation, 0);
}

}  // namespace
}  // namespace buoy::stats

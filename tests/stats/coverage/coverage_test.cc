// How often 95% intervals hold the truth, simulated. What it prints stands in docs/results.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "buoy/base/random.h"
#include "buoy/stats/networks.h"
#include "buoy/stats/paired_bootstrap.h"
#include "buoy/stats/rank_correlation.h"
#include "buoy/stats/share.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::stats {
namespace {

// Data sets are cells of a bootstrap, a few of each: those of one bootstrap share its draws.
constexpr std::uint32_t kBootstraps = 100, kSetsEach = 40;
constexpr double kSets = kBootstraps * kSetsEach;  // the error of a coverage of 95% is 0.0034

using Draw = std::function<double(std::uint32_t set, std::uint32_t index)>;

double uniform_at(std::uint32_t set, std::uint32_t index) {
  return uniform(31, {DrawStream::kWeights, 3, set, index});
}

double normal_at(std::uint32_t set, std::uint32_t index) {
  return normal(31, {DrawStream::kWeights, 4, set, index});
}

double exponential_at(std::uint32_t set, std::uint32_t index) {
  return -std::log1p(-uniform_at(set, index));
}

struct Source {
  const char* name;
  double mean;
  Draw draw;
};

std::vector<Source> sources() {
  return {{"normal", 0, normal_at},
          {"exponential", 1, exponential_at},
          {"lognormal", std::exp(0.5),
           [](std::uint32_t set, std::uint32_t i) { return std::exp(normal_at(set, i)); }},
          {"four of five are 0", 0.2, [](std::uint32_t set, std::uint32_t i) {
             return uniform_at(set, 100'000 + i) < 0.2 ? exponential_at(set, i) : 0.0;
           }}};
}

// Samples of all data sets of bootstrap `b`, `values_each` cells of each.
StreamedBootstrap simulated(std::uint32_t b, std::uint32_t samples, const BootstrapOptions& options,
                            const Draw& draw, std::uint32_t values_each = 1) {
  StreamedBootstrap out(kSetsEach * values_each, options);
  std::vector<double> values(kSetsEach * values_each);
  for (std::uint32_t n = 0; n < samples; ++n) {
    for (std::uint32_t i = 0; i < values.size(); ++i)
      values[i] = draw(b * kSetsEach + i / values_each, n * values_each + i % values_each);
    out.add("sample-" + std::to_string(n), values);
  }
  return out;
}

// The share of intervals that hold `truth`, and the middle of their widths.
struct Coverage {
  double covered = 0;
  std::vector<double> widths;

  void take(const Estimate& estimate, double truth) {
    covered += estimate.interval().contains(truth) ? 1 : 0;
    widths.push_back(estimate.upper - estimate.lower);
  }
  double share() const { return covered / static_cast<double>(widths.size()); }
  double width() {
    std::nth_element(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2),
                     widths.end());
    return widths[widths.size() / 2];
  }
};

Coverage of_means(const Source& source, std::uint32_t samples, std::int64_t replicates) {
  Coverage out;
  for (std::uint32_t b = 0; b < kBootstraps; ++b) {
    const auto bootstrap = simulated(b, samples, {.replicates = replicates, .seed = b + 1}, source.draw);
    for (std::uint32_t set = 0; set < kSetsEach; ++set) out.take(bootstrap.interval(set), source.mean);
  }
  return out;
}

TEST(Coverage, OfMeans) {
  fmt::print("| values | samples | replicates | coverage | median width |\n|---|---|---|---|---|\n");
  for (const auto& source : sources()) {
    for (const std::uint32_t samples : {5, 8, 12, 24, 64}) {
      for (const std::int64_t replicates : {1000, 200}) {
        if (replicates == 200 && samples != 24) continue;
        auto coverage = of_means(source, samples, replicates);
        fmt::print("| {} | {} | {} | {:.3f} | {:.3f} |\n", source.name, samples, replicates, coverage.share(),
                   coverage.width());
        const std::string name = source.name;
        if (samples < 12 || (name != "normal" && name != "exponential")) continue;
        EXPECT_GE(coverage.share(), 0.93) << name << ' ' << samples << ' ' << replicates;
        EXPECT_LE(coverage.share(), 0.97) << name << ' ' << samples << ' ' << replicates;
      }
    }
  }
}

// What is no mean: percentiles with expanded tails.
TEST(Coverage, OfRatiosAndSlopes) {
  fmt::print("| statistic of exponential values | samples | coverage |\n|---|---|---|\n");
  const std::vector<double> depth = {0, 1, 2, 3};
  for (const std::uint32_t samples : {12, 24, 64}) {
    Coverage ratio, slopes;
    for (std::uint32_t b = 0; b < kBootstraps; ++b) {
      const auto bootstrap = simulated(b, samples, {.seed = b + 1}, exponential_at, 4);
      for (std::uint32_t set = 0; set < kSetsEach; ++set) {
        ratio.take(bootstrap.ratio(4 * set, bootstrap, 4 * set + 1), 1);
        std::vector<std::vector<double>> replicates;
        std::vector<double> means, values;
        for (std::uint32_t l = 0; l < 4; ++l) {
          replicates.push_back(bootstrap.replicates(4 * set + l));
          means.push_back(bootstrap.mean(4 * set + l));
        }
        for (std::size_t r = 0; r < replicates[0].size(); ++r)
          values.push_back(slope(depth, std::vector<double>{replicates[0][r], replicates[1][r],
                                                            replicates[2][r], replicates[3][r]}));
        slopes.take(bootstrap.from_replicates(slope(depth, means), samples, std::move(values)), 0);
      }
    }
    fmt::print("| ratio of two means | {} | {:.3f} |\n", samples, ratio.share());
    fmt::print("| slope over four layers | {} | {:.3f} |\n", samples, slopes.share());
    for (const double share : {ratio.share(), slopes.share()}) {
      EXPECT_GE(share, 0.92) << samples;
      EXPECT_LE(share, 0.98) << samples;
    }
  }
}

// Exact: the chances of all outcomes whose interval holds p.
TEST(Coverage, OfShares) {
  fmt::print("| items | mean coverage over p = .02 to .98 | lowest | at p |\n|---|---|---|---|\n");
  for (const int n : {12, 24, 64, 200}) {
    std::vector<Interval> intervals;
    for (int k = 0; k <= n; ++k) {
      std::vector<double> scores(static_cast<std::size_t>(n), 0.0);
      std::fill_n(scores.begin(), k, 1.0);
      intervals.push_back(mean_estimate(scores, {}).interval());
    }
    double sum = 0, lowest = 1, lowest_at = 0;
    int points = 0;
    for (int percent = 2; percent <= 98; ++percent, ++points) {
      const double p = percent / 100.0;
      double covered = 0;
      for (int k = 0; k <= n; ++k) {
        if (!intervals[static_cast<std::size_t>(k)].contains(p)) continue;
        covered += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) +
                            k * std::log(p) + (n - k) * std::log(1 - p));
      }
      sum += covered;
      if (covered < lowest) lowest = covered, lowest_at = p;
    }
    fmt::print("| {} | {:.3f} | {:.3f} | {:.2f} |\n", n, sum / points, lowest, lowest_at);
    EXPECT_GE(sum / points, 0.94) << n;
    EXPECT_LE(sum / points, 0.97) << n;
  }
}

// Means of scores as `buoy eval` has them: F1, a good part of them 0 or 1.
TEST(Coverage, OfScoresAndTheirDifferences) {
  fmt::print("| scores | items | mean | difference |\n|---|---|---|---|\n");
  for (const std::uint32_t items : {12, 24, 64, 200}) {
    Coverage means, differences;
    for (std::uint32_t set = 0; set < 2000; ++set) {
      std::vector<double> a, b;
      for (std::uint32_t i = 0; i < items; ++i) {
        const double ease = uniform_at(set, 4 * i);
        const auto score = [&](std::uint32_t at, double shift) {
          return std::clamp(2 * (ease + uniform_at(set, 4 * i + at)) - 1.5 + shift, 0.0, 1.0);
        };
        a.push_back(score(1, 0.3)), b.push_back(score(2, -0.3));
      }
      const BootstrapOptions options{.replicates = 600, .seed = set};
      // By integration over ease + u, which is triangular; b is 1 - a turned round.
      constexpr double kMean = 0.629;
      means.take(mean_estimate(a, options), kMean);
      differences.take(difference_estimate({a, b}, options), 2 * kMean - 1);
    }
    fmt::print("| cut to 0 to 1 | {} | {:.3f} | {:.3f} |\n", items, means.share(), differences.share());
    for (const double share : {means.share(), differences.share()}) {
      EXPECT_GE(share, 0.93) << items;
      EXPECT_LE(share, 0.97) << items;
    }
  }
}

// Five networks, 40 questions: the effect of a network, of a question, and of both together.
struct Effects {
  const char* name;
  double network, question, both;
};

TEST(Coverage, OfFiveNetworks) {
  constexpr std::uint32_t kNetworks = 5, kQuestions = 40, kNetworkSets = 2000;
  fmt::print(
      "| deviations: network, question, both | t, questions of their own | t, the same questions | "
      "two levels, the same questions |\n|---|---|---|---|\n");
  for (const auto& effects : {Effects{"1, 1, 1", 1, 1, 1}, Effects{".3, 1, 1", 0.3, 1, 1},
                              Effects{".1, 1, 1", 0.1, 1, 1}, Effects{"0, 1, .3", 0, 1, 0.3}}) {
    Coverage own, same, two_level;
    for (std::uint32_t set = 0; set < kNetworkSets; ++set) {
      std::vector<std::vector<double>> scores(kNetworks, std::vector<double>(kQuestions));
      std::vector<double> own_means, means;
      for (std::uint32_t n = 0; n < kNetworks; ++n) {
        const double network = effects.network * normal_at(set, n);
        double mean = 0, own_mean = 0;
        for (std::uint32_t q = 0; q < kQuestions; ++q) {
          const double both = effects.both * normal_at(set, 1000 * (n + 1) + q);
          scores[n][q] = network + both + effects.question * normal_at(set, 100 + q);
          mean += scores[n][q] / kQuestions;
          own_mean +=
              (network + both + effects.question * normal_at(set, 1000 * (n + 1) + 500 + q)) / kQuestions;
        }
        means.push_back(mean), own_means.push_back(own_mean);
      }
      own.take(networks_estimate(own_means, 0.95), 0);
      same.take(networks_estimate(means, 0.95), 0);
      two_level.take(two_level_estimate({{scores.begin(), scores.end()}}, {.replicates = 400, .seed = set}),
                     0);
    }
    fmt::print("| {} | {:.3f} | {:.3f} | {:.3f} |\n", effects.name, own.share(), same.share(),
               two_level.share());
    for (const double share : {own.share(), two_level.share()}) {
      EXPECT_GE(share, 0.93) << effects.name;
      EXPECT_LE(share, 0.97) << effects.name;
    }
  }
}

}  // namespace
}  // namespace buoy::stats

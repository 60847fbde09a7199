#include "buoy/stats/networks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/random.h"
#include "support/fails_with.h"

namespace buoy::stats {
namespace {

using testing::fails_with;

double drawn(std::uint32_t set, std::uint32_t index) {
  return normal(23, {DrawStream::kWeights, 2, set, index});
}

std::vector<std::vector<double>> scores_of(double network_spread, double question_spread, std::uint32_t set) {
  std::vector<std::vector<double>> out(5, std::vector<double>(60));
  for (std::uint32_t n = 0; n < 5; ++n) {
    for (std::uint32_t q = 0; q < 60; ++q)
      out[n][q] = network_spread * drawn(set, n) + question_spread * drawn(set, 100 + q);
  }
  return out;
}

NetworkScores view(const std::vector<std::vector<double>>& scores) {
  return {{scores.begin(), scores.end()}};
}

TEST(Networks, StudentsTOnTheirMeans) {
  // 1 to 5: deviation with n - 1 is sqrt(2.5), its error sqrt(0.5).
  const std::vector<double> means = {1, 2, 3, 4, 5};
  const Estimate estimate = networks_estimate(means, 0.95);
  EXPECT_DOUBLE_EQ(estimate.value, 3);
  EXPECT_NEAR(estimate.upper, 3 + 2.776445 * std::sqrt(0.5), 1e-5);
  EXPECT_NEAR(estimate.lower, 3 - 2.776445 * std::sqrt(0.5), 1e-5);
  EXPECT_EQ(estimate.samples, 5);
  EXPECT_NEAR(estimate.deviation, std::sqrt(2.0), 1e-12);
  EXPECT_TRUE(std::isnan(networks_estimate(std::vector<double>{1}, 0.95).lower)) << "one has no spread";
  EXPECT_TRUE(fails_with<UsageError>([] { networks_estimate({}, 0.95); }, {"networks", "none"}));
}

TEST(Networks, OfTwoLevelsTheOneThatVariesDecides) {
  // Questions that are all alike: Student's t on the networks.
  const auto apart = scores_of(1, 0, 1);
  std::vector<double> means;
  for (const auto& network : apart) means.push_back(network[0]);
  const Estimate t = networks_estimate(means, 0.95);
  const Estimate both = two_level_estimate(view(apart), {.replicates = 4000});
  EXPECT_NEAR(both.value, t.value, 1e-12);
  // 4,000 resamples know a standard error to 1.1%.
  EXPECT_NEAR((both.upper - both.value) / (t.upper - t.value), 1, 0.05);

  // Networks that are all alike: the error of the mean of 60 questions, with 59 degrees of freedom.
  const auto alike = scores_of(0, 1, 2);
  double sum = 0, squares = 0;
  for (const double value : alike[0]) sum += value, squares += value * value;
  const double error = std::sqrt((squares / 60 - sum * sum / 3600) / 59);
  const Estimate questions = two_level_estimate(view(alike), {.replicates = 4000});
  EXPECT_NEAR((questions.upper - questions.value) / error, 2.001, 0.1);
}

TEST(Networks, TwoLevelsWithoutEnoughToResample) {
  const std::vector<std::vector<double>> one = {{1, 2, 3}}, same = {{2, 2}, {2, 2}}, single = {{1}, {2}};
  EXPECT_TRUE(std::isnan(two_level_estimate(view(one), {}).lower));
  EXPECT_DOUBLE_EQ(two_level_estimate(view(one), {}).value, 2);
  EXPECT_TRUE(std::isnan(two_level_estimate(view(single), {}).lower));
  EXPECT_EQ(two_level_estimate(view(same), {}).lower, 2);
  EXPECT_EQ(two_level_estimate(view(same), {}).upper, 2);
  const std::vector<std::vector<double>> ragged = {{1, 2, 3}, {1, 2}};
  EXPECT_TRUE(fails_with<UsageError>([&] { two_level_estimate(view(ragged), {}); }, {"3 questions", "2"}));
  EXPECT_TRUE(fails_with<UsageError>([] { two_level_estimate({}, {}); }, {"networks", "none"}));
}

TEST(Networks, TheSeedDecides) {
  const auto scores = scores_of(1, 1, 3);
  const auto upper = [&](std::uint64_t seed) {
    return two_level_estimate(view(scores), {.replicates = 200, .seed = seed}).upper;
  };
  EXPECT_EQ(upper(1), upper(1));
  EXPECT_NE(upper(1), upper(2));
}

}  // namespace
}  // namespace buoy::stats

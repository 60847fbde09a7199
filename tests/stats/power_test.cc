// What can be found, computed and simulated.
#include "buoy/stats/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "buoy/stats/networks.h"
#include "buoy/stats/share.h"

namespace buoy::stats {
namespace {

// By another program (Newcombe's interval and binomial chances in Python, steps of 0.001); an audit had 0.41,
// 0.27, 0.10 and 0.03.
TEST(Power, OfDropsIsThatOfAnotherProgram) {
  const PowerCase plain{.margin = 0};
  EXPECT_NEAR(detectable_drop(12, plain), 0.413, 0.001);
  EXPECT_NEAR(detectable_drop(24, plain), 0.265, 0.001);
  EXPECT_NEAR(detectable_drop(64, plain), 0.103, 0.001);
  EXPECT_NEAR(detectable_drop(200, plain), 0.034, 0.001);
  EXPECT_NEAR(detectable_drop(64, {.margin = 0.05}), 0.174, 0.001);
  EXPECT_GT(detectable_drop(64, {.margin = 0.05}), detectable_drop(64, plain) + 0.05);
  EXPECT_GT(detectable_drop(64, {.margin = 0, .alpha = 0.0125}), detectable_drop(64, plain));
  EXPECT_EQ(detectable_drop(3, {.margin = 0.5}), 1) << "not even when all are lost";
}

// The interval of networks as it is judged, over many simulated studies.
TEST(Power, OfAMeanIsThatOfSimulatedStudies) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const std::int64_t n : {5, 12, 24, 64}) {
    const PowerCase of{.margin = 0.1};
    const double effect = detectable_mean(0.5, n, of);
    constexpr int kStudies = 4000;
    int found = 0;
    for (int study = 0; study < kStudies; ++study) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < n; ++i) values.push_back(effect + 0.5 * normal(random));
      found += networks_estimate(values, 0.95).lower > of.margin;
    }
    // Standard error 0.006. The sum of quantiles is a little short where t is far from normal (n = 5).
    EXPECT_NEAR(found / double{kStudies}, 0.8, n == 5 ? 0.06 : 0.025) << n;
  }
}

TEST(Power, OfARatioFallsWithItemsAndEndsAtTheCeiling) {
  const PowerCase of;
  const double few = detectable_ratio(0.2, 2.1, 24, of), many = detectable_ratio(0.2, 2.1, 200, of);
  EXPECT_GT(few, many);
  EXPECT_GT(many, 2.1);
  EXPECT_TRUE(std::isinf(detectable_ratio(0.5, 2.1, 200, of))) << "no gain of 1.05";
}

}  // namespace
}  // namespace buoy::stats

#include "buoy/analysis/core/uniform.h"

#include <gtest/gtest.h>

#include <numeric>

namespace buoy::analysis {
namespace {

TEST(Uniform, SharesSumToOne) {
  for (const bool causal : {false, true}) {
    for (const std::int64_t tokens : {1, 2, 28, 4096}) {
      const auto share = uniform_received(causal, tokens);
      EXPECT_NEAR(std::accumulate(share.begin(), share.end(), 0.0), 1.0, 1e-12);
    }
  }
}

// docs/measurements.md 3: position 0, uniform causal.
TEST(Uniform, FloorsOfThePaper) {
  EXPECT_NEAR(uniform_received(true, 28)[0], 0.140, 5e-4);
  EXPECT_NEAR(uniform_received(true, 52)[0], 0.087, 5e-4);
  EXPECT_NEAR(uniform_received(true, 84)[0], 0.060, 5e-4);
  EXPECT_DOUBLE_EQ(uniform_received(false, 52)[17], 1.0 / 52);
}

TEST(Uniform, QueriesFromAPositionOnEqualTheirOwnAverage) {
  // By hand: queries 1 and 2 of 3 give (1/2, 1/2, 0) and (1/3, 1/3, 1/3).
  const auto share = uniform_received_from(true, 3, 1);
  EXPECT_DOUBLE_EQ(share[0], (1.0 / 2 + 1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(share[1], (1.0 / 2 + 1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(share[2], (1.0 / 3) / 2);
}

}  // namespace
}  // namespace buoy::analysis

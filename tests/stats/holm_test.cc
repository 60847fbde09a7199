#include "buoy/stats/holm.h"

#include <gtest/gtest.h>

#include <cmath>

namespace buoy::stats {
namespace {

TEST(Holm, StepsDown) {
  const std::vector<double> p = {0.01, 0.04, NAN, 0.03};
  const auto out = holm(p);
  EXPECT_DOUBLE_EQ(out[0], 0.03);
  EXPECT_DOUBLE_EQ(out[3], 0.06);
  EXPECT_DOUBLE_EQ(out[1], 0.06) << "not below that of a smaller p";
  EXPECT_TRUE(std::isnan(out[2]));
}

TEST(Holm, NoChanceIsAboveOne) {
  const std::vector<double> p = {0.9, 0.8};
  EXPECT_EQ(holm(p), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace buoy::stats

#include "buoy/stats/rank_correlation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace buoy::stats {
namespace {

TEST(RankCorrelation, TiesConstantsAndPartials) {
  EXPECT_EQ(ranks(std::vector<double>{5, 5, 7, 6}), (std::vector<double>{1.5, 1.5, 4, 3}));
  const std::vector<double> up = {0, 1, 2, 3, 4, 5}, down = {9, 7, 5, 3, 2, 0}, flat(6, 2.0);
  EXPECT_DOUBLE_EQ(spearman(up, down), -1);
  EXPECT_TRUE(std::isnan(spearman(up, flat))) << "undefined, not 0";
  EXPECT_TRUE(std::isnan(partial_spearman(down, up, up))) << "nothing is left of the step";
  // Rank correlations of (0 1 2 3 4 5), (2 1 0 4 5 3) and (1 0 3 2 5 4), by hand from 1 - 6 sum d^2 / 210:
  // d^2 = 4 0 4 1 1 4 = 14: 0.6; 1 1 1 1 1 1 = 6: 0.828571; 1 1 9 4 0 1 = 16: 0.542857. Partial of the first
  // two given the third: (0.6 - 0.828571 * 0.542857) / sqrt((1 - 0.686531) (1 - 0.294694)).
  const std::vector<double> y = {2, 1, 0, 4, 5, 3}, z = {1, 0, 3, 2, 5, 4};
  EXPECT_NEAR(partial_spearman(up, y, z),
              (0.6 - 29.0 / 35 * 19 / 35) / std::sqrt((1 - 841.0 / 1225) * (1 - 361.0 / 1225)), 1e-12);
  const std::vector<double> holes = {0, std::nan(""), 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(spearman(holes, down), -1) << "pairs without a number are left out";
  EXPECT_DOUBLE_EQ(slope(std::vector<double>{0, 0.5, 1}, std::vector<double>{1, 2, 5}), 4);
}

}  // namespace
}  // namespace buoy::stats

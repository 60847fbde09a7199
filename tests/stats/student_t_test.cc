#include "buoy/stats/student_t.h"

#include <gtest/gtest.h>

#include <cmath>

namespace buoy::stats {
namespace {

// Printed tables (Abramowitz and Stegun, 26.10) at 95% and 99%, both sides.
TEST(StudentT, AgreesWithPrintedTables) {
  struct Case {
    std::int64_t freedom;
    double at_95, at_99;
  };
  for (const auto& c : {Case{1, 12.706, 63.657}, Case{2, 4.303, 9.925}, Case{3, 3.182, 5.841},
                        Case{4, 2.776, 4.604}, Case{5, 2.571, 4.032}, Case{10, 2.228, 3.169},
                        Case{23, 2.069, 2.807}, Case{30, 2.042, 2.750}, Case{120, 1.980, 2.617}}) {
    EXPECT_NEAR(two_sided_t(0.95, c.freedom), c.at_95, 5e-4) << c.freedom;
    EXPECT_NEAR(two_sided_t(0.99, c.freedom), c.at_99, 5e-4) << c.freedom;
  }
}

// Of 1 and 2 degrees of freedom there are formulas.
TEST(StudentT, AgreesWithFormulas) {
  for (const double level : {0.5, 0.9, 0.95, 0.999}) {
    EXPECT_NEAR(two_sided_t(level, 1) / std::tan(level * std::acos(-1.0) / 2), 1, 1e-12);
    EXPECT_NEAR(two_sided_t(level, 2) / (level * std::sqrt(2 / (1 - level * level))), 1, 1e-12);
  }
}

TEST(StudentT, TheExpansionForManyDegreesMeetsTheSum) {
  for (const double level : {0.5, 0.95, 0.999}) {
    for (const std::int64_t freedom : {201, 500, 5000})
      EXPECT_NEAR(within_t(two_sided_t(level, freedom), freedom), level, 1e-10) << freedom;
  }
  EXPECT_NEAR(two_sided_t(0.95, 1'000'000'000), two_sided_normal(0.95), 1e-8);
}

TEST(StudentT, DegreesBetweenWholeNumbersLieBetween) {
  EXPECT_EQ(two_sided_t_between(0.95, 4), two_sided_t(0.95, 4));
  const double between = two_sided_t_between(0.95, 4.5);
  EXPECT_LT(between, two_sided_t(0.95, 4));
  EXPECT_GT(between, two_sided_t(0.95, 5));
  // By integrating the density; between whole numbers is an interpolation.
  EXPECT_NEAR(between / 2.658912, 1, 1e-3);
  EXPECT_NEAR(two_sided_t_between(0.95, 12.5) / 2.169186, 1, 1e-4);
  EXPECT_NEAR(two_sided_t_between(0.95, 1.5) / 6.016663, 1, 0.03);
}

TEST(StudentT, NormalQuantilesAndTails) {
  EXPECT_NEAR(two_sided_normal(0.95), 1.959963984540054, 1e-14);
  EXPECT_NEAR(two_sided_normal(0.99), 2.575829303548901, 1e-14);
  EXPECT_NEAR(normal_tail(1.959963984540054), 0.025, 1e-15);
  EXPECT_NEAR(normal_tail(0), 0.5, 1e-15);
}

}  // namespace
}  // namespace buoy::stats

// exp_nonpositive on this machine's own instruction set, against the standard library in double.

#include "buoy/ops/pointwise/exponential-inl.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

float exp_of(float x) {
  const F32 df;
  const VF v = hn::Set(df, x);
  return hn::GetLane(exp_nonpositive(v, clamp_exponent(v)));
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace buoy::ops {
namespace {

using HWY_NAMESPACE::exp_of;
using HWY_NAMESPACE::kSmallestExponent;

TEST(ExpNonpositive, IsWithinOnePointOneUnitsInTheLastPlace) {
  double worst = 0;
  for (float x = 0; x > kSmallestExponent; x -= 0.00043f) {
    const double exact = std::exp(double{x});
    const double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
    worst = std::max(worst, std::abs(exp_of(x) - exact) / unit);
  }
  EXPECT_LT(worst, 1.1);
  EXPECT_GT(worst, 0.4) << "this test measures nothing";
}

TEST(ExpNonpositive, ZeroGivesOneAndHiddenGivesZero) {
  EXPECT_EQ(exp_of(0.0f), 1.0f);
  EXPECT_EQ(exp_of(-0.0f), 1.0f);
  EXPECT_EQ(exp_of(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_EQ(exp_of(std::numeric_limits<float>::quiet_NaN()), 0.0f) << "a row that sees nothing";
  EXPECT_EQ(exp_of(-1e30f), 0.0f);
  EXPECT_GT(exp_of(kSmallestExponent), 2.6e-38f);
}

}  // namespace
}  // namespace buoy::ops

#include "buoy/figure/chart/color_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "buoy/base/error.h"
#include "support/fails_with.h"

namespace buoy::figure {
namespace {

using buoy::testing::fails_with;
using Values = std::vector<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

ResolvedScale resolve(ColorScale scale, const Values& values) {
  return {std::move(scale), values};
}

ColorScale of_kind(ScaleKind kind) {
  ColorScale scale;
  scale.kind = kind;
  return scale;
}

TEST(ColorScale, LinearRunsFromTheLeastToTheGreatest) {
  const auto scale = resolve({}, {2, 6, kNan});
  EXPECT_EQ(scale.position(2), 0);
  EXPECT_EQ(scale.position(3), 0.25);
  EXPECT_EQ(scale.position(6), 1);
  EXPECT_TRUE(std::isnan(scale.position(kNan)));
  EXPECT_FALSE(scale.clips_low() || scale.clips_high());
}

TEST(ColorScale, LinearBeginsAtAZeroThatIsNear) {
  EXPECT_EQ(resolve({}, {0.01, 1}).range().low, 0);
  EXPECT_EQ(resolve({}, {0.1, 1}).range().low, 0.1);
}

TEST(ColorScale, LogIsEvenInDecades) {
  const auto scale = resolve(of_kind(ScaleKind::kLog), {0.01, 100});
  EXPECT_DOUBLE_EQ(scale.position(1), 0.5);
  EXPECT_DOUBLE_EQ(scale.position(0.1), 0.25);
}

TEST(ColorScale, LogClipsZeroAndLessToTheSmallestPositive) {
  const auto scale = resolve(of_kind(ScaleKind::kLog), {0, -3, 0.5, 50});
  EXPECT_EQ(scale.range().low, 0.5);
  EXPECT_EQ(scale.position(0), 0);
  EXPECT_EQ(scale.position(-3), 0);
  EXPECT_TRUE(scale.clips_low());
  EXPECT_FALSE(scale.clips_high());
}

TEST(ColorScale, LogWithoutAnyPositiveValueStillHasARange) {
  const auto scale = resolve(of_kind(ScaleKind::kLog), {0, 0});
  EXPECT_LT(scale.range().low, scale.range().high);
  EXPECT_TRUE(scale.clips_low());
}

TEST(ColorScale, DivergingReachesAsFarBelowItsCenterAsAbove) {
  ColorScale description = of_kind(ScaleKind::kDiverging);
  description.center = 1;
  const auto scale = resolve(description, {0.5, 4});
  EXPECT_EQ(scale.range().low, -2);
  EXPECT_EQ(scale.range().high, 4);
  EXPECT_EQ(scale.position(1), 0.5);
}

TEST(ColorScale, ClipsAtAQuantile) {
  Values values;
  for (int i = 0; i <= 100; ++i) values.push_back(i);
  ColorScale description;
  description.clip_high = 0.9;
  description.clip_low = 0.2;
  const auto scale = resolve(description, values);
  EXPECT_DOUBLE_EQ(scale.range().low, 20);
  EXPECT_DOUBLE_EQ(scale.range().high, 90);
  EXPECT_TRUE(scale.clips_low() && scale.clips_high());
  EXPECT_EQ(scale.position(95), 1);
}

TEST(ColorScale, AQuantileThatLeavesNothingIsIgnored) {
  Values values(100, 0.0);
  values.back() = 1;
  ColorScale description;
  description.clip_high = 0.9;
  EXPECT_EQ(resolve(description, values).range().high, 1);
}

TEST(ColorScale, GivenLimitsClipToo) {
  ColorScale description;
  description.low = 0;
  description.high = 1;
  const auto scale = resolve(description, {-1, 0.5, 0.7});
  EXPECT_TRUE(scale.clips_low());
  EXPECT_FALSE(scale.clips_high());
  EXPECT_EQ(scale.position(0.5), 0.5);
}

TEST(ColorScale, OneGivenLimitBeyondAllValuesStillHasARange) {
  for (const auto kind : {ScaleKind::kLinear, ScaleKind::kLog}) {
    ColorScale description = of_kind(kind);
    description.low = 10;
    EXPECT_LT(resolve(description, {1, 2}).range().low, resolve(description, {1, 2}).range().high);
    EXPECT_EQ(resolve(description, {1, 2}).range().low, 10);
  }
}

TEST(ColorScale, EqualValuesAreInTheMiddle) {
  EXPECT_DOUBLE_EQ(resolve({}, {7, 7}).position(7), 0.5);
  EXPECT_DOUBLE_EQ(resolve({}, {0}).position(0), 0.5);
  EXPECT_DOUBLE_EQ(resolve(of_kind(ScaleKind::kLog), {7, 7}).position(7), 0.5);
  EXPECT_DOUBLE_EQ(resolve(of_kind(ScaleKind::kDiverging), {0, 0}).position(0), 0.5);
}

TEST(ColorScale, InfinitiesAreClipped) {
  const auto scale = resolve({}, {-kInfinity, 1, 2, kInfinity});
  EXPECT_EQ(scale.range().low, 1);
  EXPECT_EQ(scale.range().high, 2);
  EXPECT_EQ(scale.position(kInfinity), 1);
  EXPECT_EQ(scale.position(-kInfinity), 0);
  EXPECT_TRUE(scale.clips_low() && scale.clips_high());
}

TEST(ColorScale, KnowsWhenThereIsNoData) {
  EXPECT_FALSE(resolve({}, {kNan, kNan}).has_data());
  EXPECT_FALSE(resolve({}, {}).has_data());
  EXPECT_TRUE(resolve({}, {kNan, 0}).has_data());
}

TEST(ColorScale, RefusesWhatMakesNoSense) {
  const auto refused = [](const ColorScale& scale, const std::string& expected) {
    return fails_with<UsageError>([&] { ResolvedScale(scale, {}); }, {"colour scale", expected, "found"});
  };
  ColorScale scale;
  scale.low = 1;
  scale.high = 1;
  EXPECT_TRUE(refused(scale, "low < high"));
  scale = of_kind(ScaleKind::kLog);
  scale.low = 0;
  EXPECT_TRUE(refused(scale, "positive"));
  scale = {};
  scale.clip_low = 0.5;
  scale.clip_high = 0.5;
  EXPECT_TRUE(refused(scale, "clip_low < clip_high"));
  scale = {};
  scale.center = kNan;
  EXPECT_TRUE(refused(scale, "finite"));
}

}  // namespace
}  // namespace buoy::figure

#include "buoy/figure/chart/color.h"

#include <gtest/gtest.h>

#include <cmath>

namespace buoy::figure {
namespace {

constexpr int kSteps = 512;

double at(ColorMap map, int step) {
  return luminance(sample(map, static_cast<double>(step) / kSteps));
}

TEST(ColorMap, SequentialMapsAreMonotoneInLuminance) {
  for (int i = 1; i <= kSteps; ++i) {
    EXPECT_GT(at(ColorMap::kViridis, i), at(ColorMap::kViridis, i - 1)) << i;
    EXPECT_LT(at(ColorMap::kBlues, i), at(ColorMap::kBlues, i - 1)) << i;
  }
}

TEST(ColorMap, TheDivergingMapFallsFromItsMiddleAlikeOnBothSides) {
  for (int i = 0; i < kSteps / 2; ++i) {
    EXPECT_LT(at(ColorMap::kBlueOrange, i), at(ColorMap::kBlueOrange, i + 1)) << i;
    EXPECT_GT(at(ColorMap::kBlueOrange, kSteps - i - 1), at(ColorMap::kBlueOrange, kSteps - i)) << i;
    EXPECT_NEAR(at(ColorMap::kBlueOrange, i), at(ColorMap::kBlueOrange, kSteps - i), 0.05) << i;
  }
}

TEST(ColorMap, ChangesWithoutJumps) {
  for (const auto map : {ColorMap::kViridis, ColorMap::kBlues, ColorMap::kBlueOrange}) {
    for (int i = 1; i <= kSteps; ++i) {
      const Color a = sample(map, static_cast<double>(i - 1) / kSteps),
                  b = sample(map, static_cast<double>(i) / kSteps);
      EXPECT_LT(std::abs(a.red - b.red) + std::abs(a.green - b.green) + std::abs(a.blue - b.blue), 0.03);
    }
  }
}

TEST(ColorMap, UsesMostOfTheRangeOfLuminance) {
  EXPECT_LT(at(ColorMap::kViridis, 0), 0.03);
  EXPECT_GT(at(ColorMap::kViridis, kSteps), 0.7);
  EXPECT_GT(at(ColorMap::kBlues, 0), 0.9);
  EXPECT_LT(at(ColorMap::kBlues, kSteps), 0.05);
}

TEST(ColorMap, HoldsPositionsToItsEnds) {
  EXPECT_EQ(sample(ColorMap::kViridis, -1), sample(ColorMap::kViridis, 0));
  EXPECT_EQ(sample(ColorMap::kViridis, 2), sample(ColorMap::kViridis, 1));
}

TEST(ColorMap, ViridisPassesThroughItsPublishedColors) {
  const Color first = sample(ColorMap::kViridis, 0), middle = sample(ColorMap::kViridis, 0.5);
  EXPECT_NEAR(first.red, 0x44 / 255.0, 1e-3);
  EXPECT_NEAR(first.green, 0x01 / 255.0, 2e-3);
  EXPECT_NEAR(first.blue, 0x54 / 255.0, 1e-3);
  EXPECT_NEAR(middle.red, 0x21 / 255.0, 1e-3);
  EXPECT_NEAR(middle.green, 0x91 / 255.0, 1e-3);
  EXPECT_NEAR(middle.blue, 0x8c / 255.0, 1e-3);
}

// As a reader without green cones sees it (Machado et al. 2009, severity 1, in linear light).
double distance_without_green(const Color& a, const Color& b) {
  const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  const double r = linear(a.red) - linear(b.red), g = linear(a.green) - linear(b.green),
               u = linear(a.blue) - linear(b.blue);
  return std::hypot(0.367322 * r + 0.860646 * g - 0.227968 * u, 0.280085 * r + 0.672501 * g + 0.047413 * u,
                    -0.011820 * r + 0.042940 * g + 0.968881 * u);
}

TEST(Palette, NeighboursDifferForColorBlindReaders) {
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_GT(distance_without_green(series_color(i), series_color((i + 1) % 7)), 0.1) << i;
  }
  EXPECT_GT(distance_without_green(sample(ColorMap::kBlueOrange, 0), sample(ColorMap::kBlueOrange, 1)), 0.1);
}

TEST(Palette, NoLineIsTooPaleForWhitePaper) {
  for (size_t i = 0; i < 7; ++i) EXPECT_GE(1.05 / (luminance(series_color(i)) + 0.05), 2) << i;
}

TEST(ReadableOn, IsBlackOnLightAndWhiteOnDark) {
  EXPECT_EQ(readable_on(kWhite), kBlack);
  EXPECT_EQ(readable_on(kBlack), kWhite);
  EXPECT_EQ(readable_on(sample(ColorMap::kViridis, 1)), kBlack);
  EXPECT_EQ(readable_on(sample(ColorMap::kViridis, 0)), kWhite);
}

}  // namespace
}  // namespace buoy::figure

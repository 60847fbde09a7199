// Figures for dark screens: the same layout in colours that stand on the dark page.

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/figure/chart/color.h"
#include "buoy/figure/draw/render.h"
#include "buoy/figure/layout/layout.h"
#include "figure/examples.h"

namespace buoy::figure {
namespace {

using namespace figure::testing;

double contrast(const Color& a, const Color& b) {
  const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

TEST(Theme, DarkFiguresStandOnTheDarkPage) {
  const Palette& dark = palette_of(Theme::kDark);
  EXPECT_GT(contrast(dark.ink, dark.page), 12);
  EXPECT_GT(contrast(dark.grey, dark.page), 4.5);
  for (size_t i = 0; i < 7; ++i)
    EXPECT_GE(contrast(series_color(i, Theme::kDark), dark.page), 4.5) << "series " << i;
}

TEST(Theme, WhatIsNextToNothingLooksLikeThePage) {
  const Palette& dark = palette_of(Theme::kDark);
  EXPECT_LT(contrast(sample(themed(ColorMap::kBlues, Theme::kDark), 0), dark.page), 1.35);
  EXPECT_LT(contrast(sample(themed(ColorMap::kBlueOrange, Theme::kDark), 0.5), dark.page), 1.35);
  EXPECT_EQ(themed(ColorMap::kBlues, Theme::kPaper), ColorMap::kBlues);
  EXPECT_EQ(themed(ColorMap::kViridis, Theme::kDark), ColorMap::kViridis);
}

TEST(Theme, MapsOnDarkAreMonotoneAndWithoutJumps) {
  constexpr int kSteps = 512;
  const auto at = [](ColorMap map, int step) { return sample(map, static_cast<double>(step) / kSteps); };
  for (int i = 1; i <= kSteps; ++i) {
    EXPECT_GT(luminance(at(ColorMap::kBluesOnDark, i)), luminance(at(ColorMap::kBluesOnDark, i - 1))) << i;
    const Color a = at(ColorMap::kBlueOrangeOnDark, i - 1), b = at(ColorMap::kBlueOrangeOnDark, i);
    if (i <= kSteps / 2) {
      EXPECT_LT(luminance(b), luminance(a)) << i;
    } else {
      EXPECT_GT(luminance(b), luminance(a)) << i;
    }
    EXPECT_LT(std::abs(a.red - b.red) + std::abs(a.green - b.green) + std::abs(a.blue - b.blue), 0.03) << i;
  }
}

TEST(Theme, ChangesColoursAndNothingElse) {
  const FixedMeasure measure;
  for (const auto& figure : all_examples()) {
    const Scene paper = lay_out(figure, measure), dark = lay_out(figure, measure, Theme::kDark);
    EXPECT_EQ(paper.page, kWhite);
    EXPECT_EQ(dark.page, palette_of(Theme::kDark).page);
    ASSERT_EQ(paper.items.size(), dark.items.size());
    EXPECT_EQ(paper.height, dark.height);
    const auto ours = texts_of(paper), theirs = texts_of(dark);
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(ours[i].text, theirs[i].text);
      EXPECT_EQ(ours[i].at.x, theirs[i].at.x);
      // Numbers and tokens stand on cells; everything else stands on the page.
      if (theirs[i].role == TextRole::kCellValue || theirs[i].role == TextRole::kToken) continue;
      EXPECT_GT(contrast(theirs[i].color, dark.page), 4.5) << theirs[i].text;
    }
  }
}

TEST(Theme, TheSvgIsDark) {
  if (!can_render()) GTEST_SKIP() << "built without Cairo";
  const std::string svg = render(figure_of({"", example_lines()}), Format::kSvg, Theme::kDark);
  EXPECT_EQ(svg.find("rgb(100%,100%,100%)"), std::string::npos);
  EXPECT_EQ(svg.find("rgb(0%,0%,0%)"), std::string::npos);
}

}  // namespace
}  // namespace buoy::figure

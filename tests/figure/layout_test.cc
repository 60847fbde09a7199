// What a reader would complain about, checked on the laid-out page instead of by eye.

#include "buoy/figure/layout/layout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "buoy/base/error.h"
#include "buoy/figure/draw/render.h"
#include "figure/examples.h"
#include "support/fails_with.h"

namespace buoy::figure {
namespace {

using namespace figure::testing;
using buoy::testing::fails_with;

// With letters of fixed width, and with the real font where there is one.
std::vector<std::unique_ptr<TextMeasure>> measures() {
  std::vector<std::unique_ptr<TextMeasure>> all;
  all.push_back(std::make_unique<FixedMeasure>());
  if (can_render()) all.push_back(make_text_measure());
  return all;
}

void expect_clean(const Scene& scene, const std::string& name) {
  const Rect page{0, 0, scene.width, scene.height};
  const auto texts = texts_of(scene);
  EXPECT_FALSE(texts.empty()) << name;
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(page.contains(texts[i].box)) << name << ": '" << texts[i].text << "' leaves the page";
    EXPECT_GE(texts[i].style.size, 6) << name << ": '" << texts[i].text << "'";
    for (size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(texts[i].box.intersects(texts[j].box))
          << name << ": '" << texts[i].text << "' overlaps '" << texts[j].text << "'";
    }
    if (texts[i].role == TextRole::kCellValue || texts[i].role == TextRole::kToken) continue;
    for (const auto& area : scene.areas) {
      if (area.kind == AreaKind::kLegend) continue;
      EXPECT_FALSE(texts[i].box.intersects(area.box)) << name << ": '" << texts[i].text << "' covers data";
    }
  }
  for (size_t i = 0; i < scene.areas.size(); ++i) {
    EXPECT_TRUE(page.contains(scene.areas[i].box)) << name << ": area " << i;
    for (size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(scene.areas[i].box.intersects(scene.areas[j].box)) << name << ": areas " << i << ", " << j;
    }
  }
}

TEST(Layout, NoTextOverlapsLeavesThePageOrCoversData) {
  for (const auto& measure : measures()) {
    size_t number = 0;
    for (const auto& figure : all_examples()) {
      expect_clean(lay_out(figure, *measure), "example " + std::to_string(number++));
    }
  }
}

TEST(Layout, HoldsForEverySizeOfPageAndFont) {
  const auto page = example_page();
  for (const auto& measure : measures()) {
    for (const auto& panel : page.panels) {
      for (const double width : {60.0, 89.0, 140.0}) {
        for (const double height : {0.0, 55.0, 120.0}) {
          for (const double font : {6.0, 8.0, 11.0}) {
            Figure figure = figure_of(panel);
            figure.width_mm = width;
            figure.height_mm = height;
            figure.font_pt = font;
            const auto name = panel.title + " " + std::to_string(width) + " x " + std::to_string(height) +
                              ", " + std::to_string(font) + " pt";
            try {
              expect_clean(lay_out(figure, *measure), name);
            } catch (const UsageError&) {  // too small is an answer, but not at the usual sizes
              EXPECT_TRUE(font > 8 || height == 55) << name;
            }
          }
        }
      }
    }
  }
}

TEST(Layout, PlotsOfAColumnShareTheirLeftEdgeAndOfARowTheirTop) {
  const auto plots = areas_of(lay_out(example_page(), FixedMeasure()), AreaKind::kPlot);
  ASSERT_EQ(plots.size(), 6u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(plots[i].x, plots[i + 3].x);
    EXPECT_DOUBLE_EQ(plots[i].y, plots[0].y);
    EXPECT_DOUBLE_EQ(plots[i + 3].y, plots[3].y);
  }
}

TEST(Layout, APageOfFixedHeightHasThatHeight) {
  Figure figure = figure_of({"", example_lines()});
  figure.height_mm = 100;
  const Scene scene = lay_out(figure, FixedMeasure());
  EXPECT_NEAR(scene.height, 100 / 25.4 * 72, 1e-9);
  EXPECT_NEAR(scene.width, 183 / 25.4 * 72, 1e-9);
}

TEST(Layout, LongTitlesWrapAndThenEndInAnEllipsis) {
  Figure figure = figure_of({"", example_bars()});
  figure.width_mm = 89;
  for (int i = 0; i < 60; ++i) figure.title += "word ";
  const auto lines = words_of(lay_out(figure, FixedMeasure()), TextRole::kTitle);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_FALSE(lines[0].ends_with("…"));
  EXPECT_TRUE(lines[5].ends_with("…"));
}

TEST(Layout, LegendsWrapIntoRowsAndKeepEveryName) {
  Figure figure = figure_of({"", example_lines()});
  figure.width_mm = 89;
  const auto names = words_of(lay_out(figure, FixedMeasure()), TextRole::kLegend);
  for (const auto& series : example_lines().series) {
    EXPECT_NE(std::find(names.begin(), names.end(), series.name), names.end()) << series.name;
  }
}

TEST(Layout, LettersCountThePanels) {
  const auto letters = words_of(lay_out(example_page(), FixedMeasure()), TextRole::kLetter);
  EXPECT_EQ(letters, (std::vector<std::string>{"a", "b", "c", "d", "e", "f"}));
}

TEST(Layout, OneScaleDrawsOneColorBar) {
  Figure figure = all_examples().back();
  ASSERT_TRUE(figure.one_scale);
  EXPECT_EQ(areas_of(lay_out(figure, FixedMeasure()), AreaKind::kColorBar).size(), 1u);
  figure.one_scale = false;
  EXPECT_EQ(areas_of(lay_out(figure, FixedMeasure()), AreaKind::kColorBar).size(), 2u);
}

TEST(Layout, RefusesAPageTooSmallForItsPanels) {
  Figure figure = example_page();
  figure.width_mm = 40;
  EXPECT_TRUE(fails_with<UsageError>([&] { lay_out(figure, FixedMeasure()); },
                                     {"figure: panel", "room for the plot", "found"}));
  figure = figure_of({"", example_lines()});
  figure.height_mm = 12;
  EXPECT_TRUE(fails_with<UsageError>([&] { lay_out(figure, FixedMeasure()); },
                                     {"figure: panel 1", "room for the plot", "found"}));
}

}  // namespace
}  // namespace buoy::figure

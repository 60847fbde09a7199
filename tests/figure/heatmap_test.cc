#include "buoy/figure/chart/heatmap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "buoy/figure/layout/layout.h"
#include "buoy/figure/layout/marks.h"
#include "figure/examples.h"

namespace buoy::figure {
namespace {

using namespace figure::testing;
using Words = std::vector<std::string>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Scene scene_of(const Heatmap& map, double width_mm = 89) {
  Figure figure = figure_of({"", map});
  figure.width_mm = width_mm;
  return lay_out(figure, FixedMeasure());
}

Image image_of(const Scene& scene) {
  for (const auto& item : scene.items) {
    if (const auto* image = std::get_if<Image>(&item)) return *image;
  }
  ADD_FAILURE() << "no image";
  return {};
}

std::uint32_t pixel_at(const Image& image, double x, double y) {
  const auto column = static_cast<size_t>(x * image.columns), row = static_cast<size_t>(y * image.rows);
  return image.pixels[row * static_cast<size_t>(image.columns) + column];
}

bool holds(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Heatmap, EveryCellHasTheColorOfItsValue) {
  Heatmap map;
  map.matrix = ramp(3, 4);
  const Image image = image_of(scene_of(map));
  const ResolvedScale scale(map.colors, map.matrix.values);
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 4; ++column) {
      const double x = (static_cast<double>(column) + 0.5) / 4, y = (static_cast<double>(row) + 0.5) / 3;
      EXPECT_EQ(pixel_at(image, x, y), pixel_of(scale.color(map.matrix.values[row * 4 + column])));
    }
  }
}

TEST(Heatmap, TheFirstRowIsAtTheTopUnlessAskedOtherwise) {
  Heatmap map;
  map.matrix = {2, 1, {0, 1}};
  const auto low = pixel_of(sample(map.colors.map, 0)), high = pixel_of(sample(map.colors.map, 1));
  EXPECT_EQ(pixel_at(image_of(scene_of(map)), 0.5, 0.25), low);
  map.first_row = FirstRow::kBottom;
  const Scene scene = scene_of(map);
  EXPECT_EQ(pixel_at(image_of(scene), 0.5, 0.25), high);
  std::vector<double> zero_at, one_at;
  for (const auto& text : texts_of(scene)) {
    if (text.role == TextRole::kTick && text.box.right() < areas_of(scene, AreaKind::kPlot)[0].x) {
      (text.text == "0" ? zero_at : one_at).push_back(text.box.y);
    }
  }
  ASSERT_EQ(zero_at.size(), 1u);
  ASSERT_EQ(one_at.size(), 1u);
  EXPECT_GT(zero_at[0], one_at[0]);
}

TEST(Heatmap, NanIsClearOverAHatchAndNamedInTheLegend) {
  Heatmap map;
  map.matrix = {1, 2, {kNan, 1}};
  const Scene scene = scene_of(map);
  EXPECT_EQ(pixel_at(image_of(scene), 0.25, 0.5), 0u);
  EXPECT_NE(pixel_at(image_of(scene), 0.75, 0.5), 0u);
  EXPECT_EQ(words_of(scene, TextRole::kLegend), Words{"no data"});
  map.matrix.values[0] = 0;
  EXPECT_TRUE(words_of(scene_of(map), TextRole::kLegend).empty());
}

TEST(Heatmap, DrawsMatricesOfEveryStrangeKind) {
  for (const Matrix& matrix : {Matrix{1, 1, {0.5}}, Matrix{1, 1, {kNan}}, Matrix{1, 5, {1, 1, 1, 1, 1}},
                               Matrix{5, 1, {0, 0, 0, 0, 0}}, Matrix{2, 2, {kNan, kNan, kNan, kNan}},
                               Matrix{2, 2, {kInfinity, -kInfinity, kNan, 1}}, Matrix{1, 2, {-1e308, 1e308}},
                               Matrix{1, 2, {1e-320, 2e-320}}, Matrix{1, 1, {kInfinity}}}) {
    for (const auto kind : {ScaleKind::kLinear, ScaleKind::kLog, ScaleKind::kDiverging}) {
      for (const bool values : {false, true}) {
        Heatmap map;
        map.matrix = matrix;
        map.colors.kind = kind;
        map.print_values = values;
        EXPECT_NO_THROW(scene_of(map)) << matrix.rows << " x " << matrix.columns;
      }
    }
  }
}

TEST(Heatmap, MarksOnlyTheCellsAsked) {
  Heatmap map;
  map.matrix = ramp(4, 4);
  map.marks = {{"", MarkKind::kDot, {{1, 2}, {3, 0}}}};
  const Scene scene = scene_of(map);
  const CellGrid grid{areas_of(scene, AreaKind::kPlot)[0], 4, 4, FirstRow::kTop};
  std::multiset<Cell> dotted;
  for (const auto& item : scene.items) {
    const auto* shape = std::get_if<Shape>(&item);
    if (shape == nullptr || shape->fill != std::optional(kBlack) || shape->circles.empty()) continue;
    for (size_t row = 0; row < 4; ++row) {
      for (size_t column = 0; column < 4; ++column) {
        const Point at = shape->circles[0].middle;
        if (grid.cell({row, column}).contains({at.x, at.y, 0, 0})) dotted.insert({row, column});
      }
    }
  }
  EXPECT_EQ(dotted, (std::multiset<Cell>{{1, 2}, {3, 0}}));
}

TEST(Heatmap, OutlinesOfTouchingCellsJoin) {
  const CellGrid grid{{0, 0, 40, 40}, 4, 4, FirstRow::kTop};
  const FixedMeasure measure;
  for (const auto first_row : {FirstRow::kTop, FirstRow::kBottom}) {
    Scene scene;
    CellGrid turned = grid;
    turned.first_row = first_row;
    draw_marks({measure, 8}, {"", MarkKind::kOutline, {{0, 0}, {1, 0}, {3, 3}}}, turned, scene);
    for (const auto& item : scene.items) EXPECT_EQ(std::get<Shape>(item).lines.size(), 6u + 4u);
  }
}

TEST(Heatmap, MarksShowOnDarkAndOnLightCells) {
  const FixedMeasure measure;
  for (const auto kind : {MarkKind::kOutline, MarkKind::kDot, MarkKind::kHatch}) {
    Scene scene;
    draw_marks({measure, 8}, {"", kind, {{0, 0}}}, {{0, 0, 20, 20}, 1, 1, FirstRow::kTop}, scene);
    bool black = false, white = false;
    for (const auto& item : scene.items) {
      const auto& shape = std::get<Shape>(item);
      black |= shape.fill == std::optional(kBlack) || (shape.stroke && shape.stroke->color == kBlack);
      white |= shape.stroke && shape.stroke->color == kWhite;
    }
    EXPECT_TRUE(black && white);
  }
}

TEST(Heatmap, NamesAreThinnedUntilTheyFit) {
  Heatmap map;
  map.matrix = ramp(2, 4096);
  for (int i = 0; i < 4096; ++i) map.x.names.push_back("token" + std::to_string(i));
  const auto ticks = words_of(scene_of(map, 183), TextRole::kTick);
  EXPECT_TRUE(holds(ticks, "token0"));
  EXPECT_TRUE(holds(ticks, "token100"));
  EXPECT_FALSE(holds(ticks, "token1"));
  EXPECT_LT(ticks.size(), 80u);
  map.matrix = ramp(2, 10);
  map.x.names.resize(10);
  const auto few = words_of(scene_of(map, 183), TextRole::kTick);
  for (const auto& name : map.x.names) EXPECT_TRUE(holds(few, name)) << name;
}

TEST(Heatmap, NumbersAreThoseOfTheCells) {
  Heatmap map;
  map.matrix = ramp(1, 6);
  map.x.first = 10;
  map.x.step = 2;
  const auto ticks = words_of(scene_of(map), TextRole::kTick);
  for (const auto* number : {"10", "12", "14", "16", "18", "20"}) EXPECT_TRUE(holds(ticks, number)) << number;
  EXPECT_FALSE(holds(ticks, "11"));
}

TEST(Heatmap, SquareCellsAreSquare) {
  const auto plot = areas_of(scene_of(head_grid(ramp(28, 32), {})), AreaKind::kPlot)[0];
  EXPECT_NEAR(plot.width / 32, plot.height / 28, 1e-9);
}

TEST(Heatmap, PrintsValuesOnlyWhereAllOfThemFit) {
  const auto values = words_of(scene_of(example_flow(), 183), TextRole::kCellValue);
  ASSERT_EQ(values.size(), 169u);
  EXPECT_EQ(values.front(), "0.00");
  EXPECT_EQ(values.back(), "1.00");
  EXPECT_TRUE(words_of(scene_of(example_flow(), 60), TextRole::kCellValue).empty());
}

TEST(Heatmap, PrintedValuesContrastWithTheirCells) {
  const Heatmap map = example_flow();
  const ResolvedScale scale(map.colors, map.matrix.values);
  size_t number = 0;
  for (const auto& text : texts_of(scene_of(map, 183))) {
    if (text.role != TextRole::kCellValue) continue;
    const double ink = luminance(text.color), paper = luminance(scale.color(map.matrix.values[number++]));
    // WCAG's contrast for text.
    EXPECT_GE((std::max(ink, paper) + 0.05) / (std::min(ink, paper) + 0.05), 4.5) << text.text;
  }
}

TEST(Heatmap, PrintsNoNegativeZero) {
  ColorScale colors;
  const auto map = flow_matrix({1, 1, {-0.001}}, {"a"}, colors);
  EXPECT_EQ(words_of(scene_of(map), TextRole::kCellValue), Words{"0.00"});
}

TEST(Heatmap, MoreCellsThanCanBeSeenAreMergedWithoutLosingAPeakAndSaySo) {
  Heatmap map;
  map.matrix = {2, 9000, std::vector<double>(18000, 0.0)};
  map.matrix.values[4321] = 1;
  const Scene scene = scene_of(map);
  const Image image = image_of(scene);
  EXPECT_LT(image.columns, 9000);
  EXPECT_EQ(std::count(image.pixels.begin(), image.pixels.begin() + image.columns,
                       pixel_of(sample(ColorMap::kViridis, 1))),
            1);
  const auto remark = words_of(scene, TextRole::kLegend);
  ASSERT_FALSE(remark.empty());
  EXPECT_TRUE(remark[0].starts_with("Drawn with 2 × " + std::to_string(image.columns) + " points"))
      << remark[0];
}

TEST(Heatmap, MergedImagesStaySmall) {
  Heatmap map;
  map.matrix = ramp(1500, 1500);
  const Image image = image_of(scene_of(map, 183));
  EXPECT_LE(image.pixels.size(), 400'000u);
  EXPECT_GT(image.pixels.size(), 200'000u);
}

TEST(Heatmap, TheColorBarSaysWhereItClips) {
  Heatmap map;
  map.matrix = {1, 4, {0, 0.001, 1, 10}};
  map.colors.kind = ScaleKind::kLog;
  map.colors.high = 5;
  const auto ticks = words_of(scene_of(map), TextRole::kTick);
  EXPECT_TRUE(holds(ticks, "≤ 0.001"));
  EXPECT_TRUE(holds(ticks, "≥ 5"));
  map.matrix.values = {0.001, 0.01, 1, 5};
  for (const auto& tick : words_of(scene_of(map), TextRole::kTick)) {
    EXPECT_EQ(tick.find("≤"), std::string::npos);
    EXPECT_EQ(tick.find("≥"), std::string::npos);
  }
}

}  // namespace
}  // namespace buoy::figure

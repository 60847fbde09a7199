#include "buoy/figure/chart/chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "buoy/figure/layout/layout.h"
#include "buoy/figure/layout/line_style.h"
#include "figure/examples.h"

namespace buoy::figure {
namespace {

using namespace figure::testing;
using Words = std::vector<std::string>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Chart>
Scene scene_of(const Chart& chart) {
  Figure figure = figure_of({"", chart});
  figure.width_mm = 89;
  return lay_out(figure, FixedMeasure());
}

LineChart chart_of(Series series) {
  LineChart chart;
  chart.series = {std::move(series)};
  return chart;
}

// Lines in the colour of the first series, clipped to the plot: its curve.
std::vector<Shape> curves_of(const Scene& scene) {
  std::vector<Shape> shapes;
  for (const auto& item : scene.items) {
    const auto* shape = std::get_if<Shape>(&item);
    if (shape != nullptr && shape->clip && shape->stroke && shape->stroke->color == series_color(0)) {
      shapes.push_back(*shape);
    }
  }
  return shapes;
}

std::vector<Shape> fills_of(const Scene& scene, const Color& color) {
  std::vector<Shape> shapes;
  for (const auto& item : scene.items) {
    const auto* shape = std::get_if<Shape>(&item);
    if (shape != nullptr && shape->fill == std::optional(color)) shapes.push_back(*shape);
  }
  return shapes;
}

TEST(LineChart, PutsPointsWhereTheirNumbersAre) {
  LineChart chart = chart_of({"s", {0, 1, 2}, {0, 5, 10}, {}, {}});
  chart.y_low = 0;
  chart.y_high = 20;
  const Scene scene = scene_of(chart);
  const Rect plot = areas_of(scene, AreaKind::kPlot)[0];
  const auto points = curves_of(scene).at(0).lines.at(0);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_NEAR(points[0].y, plot.bottom(), 1e-9);
  EXPECT_NEAR(points[1].y, plot.bottom() - plot.height / 4, 1e-9);
  EXPECT_NEAR(points[2].y, plot.bottom() - plot.height / 2, 1e-9);
  EXPECT_NEAR(points[1].x, plot.middle().x, 1e-9);
}

TEST(LineChart, LogAxesAreEvenInDecades) {
  LineChart chart = chart_of({"s", {0, 1, 2}, {0.01, 0.1, 1}, {}, {}});
  chart.y_scale = AxisScale::kLog;
  const auto points = curves_of(scene_of(chart)).at(0).lines.at(0);
  EXPECT_NEAR(points[1].y - points[0].y, points[2].y - points[1].y, 1e-9);
}

TEST(LineChart, SaysThatALogAxisLeavesValuesOut) {
  LineChart chart = chart_of({"s", {0, 1, 2}, {0.01, 0, 1}, {}, {}});
  chart.y_title = "share";
  chart.y_scale = AxisScale::kLog;
  const auto titles = words_of(scene_of(chart), TextRole::kAxisTitle);
  EXPECT_EQ(titles, (Words{"share (values ≤ 0 not", "shown)"}));
  chart.series[0].y[1] = 0.1;
  EXPECT_EQ(words_of(scene_of(chart), TextRole::kAxisTitle), Words{"share"});
}

TEST(LineChart, LeavesAGapWhereThereIsNoNumber) {
  for (const double hole : {kNan, kInfinity, -kInfinity}) {
    const auto curve =
        curves_of(scene_of(chart_of({"s", {0, 1, 2, 3, 4}, {1, 2, hole, 2, 1}, {}, {}}))).at(0);
    ASSERT_EQ(curve.lines.size(), 2u);
    EXPECT_EQ(curve.lines[0].size(), 2u);
    EXPECT_EQ(curve.lines[1].size(), 2u);
  }
}

TEST(LineChart, ABandFollowsItsBoundsAndOnePointGetsAWhisker) {
  auto scene = scene_of(chart_of({"s", {0, 1, 2}, {2, 2, 2}, {1, 1, 1}, {3, 3, 3}}));
  size_t bands = 0;
  for (const auto& shape : fills_of(scene, series_color(0)))
    bands += shape.clip && shape.lines[0].size() == 6;
  EXPECT_EQ(bands, 1u);
  scene = scene_of(chart_of({"s", {0}, {2}, {1}, {3}}));
  const auto strokes = curves_of(scene);
  ASSERT_EQ(strokes.size(), 2u);  // the whisker, then the curve of one point
  EXPECT_LT(strokes[0].lines[0][1].y, strokes[0].lines[0][0].y);
}

TEST(LineChart, PointsThatRestOnLittleAreCrossesJoinedToNothing) {
  Series series{"s", {0, 1, 2, 3, 4}, {1, 2, 3, 4, 5}, {0, 1, 2, 3, 4}, {2, 3, 4, 5, 6}};
  series.thin = {false, false, true, false, false};
  LineChart chart = chart_of(series);
  chart.thin_name = "few";
  const Scene scene = scene_of(chart);
  const auto shapes = curves_of(scene);
  ASSERT_EQ(shapes.size(), 2u) << "a whisker and the curve";
  ASSERT_EQ(shapes[0].lines.size(), 1u);
  EXPECT_EQ(shapes[0].lines[0][0].x, shapes[0].lines[0][1].x) << "the whisker stands upright";
  ASSERT_EQ(shapes[1].lines.size(), 2u) << "the curve has a gap";
  EXPECT_EQ(shapes[1].lines[0].size(), 2u);
  EXPECT_EQ(shapes[1].lines[1].size(), 2u);
  size_t crosses = 0;
  for (const auto& item : scene.items) {
    const auto* shape = std::get_if<Shape>(&item);
    crosses += shape != nullptr && !shape->clip && !shape->closed && shape->lines.size() == 2;
  }
  EXPECT_EQ(crosses, 2u) << "the point, and in the legend";
  const auto names = [](const Scene& drawn) { return words_of(drawn, TextRole::kLegend); };
  EXPECT_EQ(names(scene), Words{"few"});
  series.thin.assign(5, false);
  chart = chart_of(series);
  chart.thin_name = "few";
  EXPECT_EQ(names(scene_of(chart)), Words{}) << "no legend for what is not there";
}

TEST(LineChart, DrawsSeriesOfEveryStrangeKind) {
  for (const auto scale : {AxisScale::kLinear, AxisScale::kLog}) {
    for (const auto& y :
         {std::vector<double>{0, 0}, {kNan, kNan}, {-1, -1}, {1e-12, 1e-12}, {1e300, -1e300}, {5, 5}}) {
      LineChart chart = chart_of({"s", {1, 2}, y, {}, {}});
      chart.y_scale = scale;
      EXPECT_NO_THROW(scene_of(chart));
      chart.y_low = 1e6;
      EXPECT_NO_THROW(scene_of(chart));
    }
  }
}

TEST(LineChart, ShowsZeroWhereItIsNear) {
  const auto near = words_of(scene_of(chart_of({"s", {1, 2}, {0.1, 1}, {}, {}})), TextRole::kTick);
  EXPECT_NE(std::find(near.begin(), near.end(), "0"), near.end());
  const auto far = words_of(scene_of(chart_of({"s", {1, 2}, {0.9, 1}, {}, {}})), TextRole::kTick);
  EXPECT_EQ(std::find(far.begin(), far.end(), "0"), far.end());
}

TEST(LineChart, SeriesDifferWithoutTheirColor) {
  const FixedMeasure measure;
  const Look look{measure, 8};
  std::set<std::pair<size_t, size_t>> seen;
  for (size_t i = 0; i < 12; ++i) {
    seen.insert({i % 6, i % 4});
    const auto a = series_stroke(look, i), b = series_stroke(look, i + 1);
    EXPECT_NE(a.dash, b.dash) << i;
    const auto one = series_marker(look, i, {}), other = series_marker(look, i + 1, {});
    const bool same_outline =
        one.lines.empty() || other.lines.empty()
            ? one.lines.empty() && other.lines.empty()
            : one.lines[0].size() == other.lines[0].size() && one.lines[0][0].y == other.lines[0][0].y;
    EXPECT_FALSE(same_outline && (one.fill == kWhite) == (other.fill == kWhite)) << i;
  }
  EXPECT_EQ(seen.size(), 12u);
}

TEST(LineChart, ReferencesOfASeriesHaveItsColor) {
  LineChart chart = chart_of({"s", {0, 1}, {1, 2}, {}, {}});
  chart.references = {{"null", {0, 1}, {0.5, 0.5}, 0}, {"published", {0, 1}, {0.7, 0.7}, {}}};
  const Scene scene = scene_of(chart);
  EXPECT_EQ(curves_of(scene).size(), 2u);
  EXPECT_EQ(words_of(scene, TextRole::kEndLabel), (Words{"s", "published"})) << "from top to bottom";
  EXPECT_EQ(words_of(scene, TextRole::kLegend), Words{"null"});
}

TEST(LineChart, SeriesWithoutANameHaveNone) {
  LineChart chart = chart_of({"", {0, 1}, {1, 2}, {}, {}});
  EXPECT_TRUE(areas_of(scene_of(chart), AreaKind::kLegend).empty());
  chart.series.push_back({"named", {0, 1}, {1, 2}, {}, {}});
  EXPECT_EQ(words_of(scene_of(chart), TextRole::kEndLabel), Words{"named"});
}

TEST(LineChart, CurvesAreNamedAtTheirEnds) {
  LineChart chart = chart_of({"low", {0, 1}, {3, 1}, {}, {}});
  chart.series.push_back({"high", {0, 1}, {1, 3}, {}, {}});
  const Scene scene = scene_of(chart);
  const Rect plot = areas_of(scene, AreaKind::kPlot)[0];
  EXPECT_TRUE(areas_of(scene, AreaKind::kLegend).empty());
  EXPECT_EQ(words_of(scene, TextRole::kEndLabel), (Words{"high", "low"}));
  const auto end = curves_of(scene).at(0).lines.at(0).back();
  for (const auto& text : texts_of(scene)) {
    if (text.text != "low") continue;
    EXPECT_NEAR(text.box.middle().y, end.y, 1.0);
    EXPECT_GT(text.box.x, plot.right());
  }
}

TEST(LineChart, CurvesWhoseEndsMeetAreNamedInTheLegend) {
  LineChart chart = chart_of({"a", {0, 1}, {3, 1}, {}, {}});
  for (const char* name : {"b", "c", "d"}) chart.series.push_back({name, {0, 1}, {1, 1}, {}, {}});
  const Scene together = scene_of(chart);
  EXPECT_EQ(words_of(together, TextRole::kLegend), (Words{"a", "b", "c", "d"}));
  EXPECT_TRUE(words_of(together, TextRole::kEndLabel).empty());
  chart.series.resize(2);  // two names at one end stand above each other
  EXPECT_EQ(words_of(scene_of(chart), TextRole::kEndLabel), (Words{"a", "b"}));
  chart.series[0].y[1] = kNan;  // a curve that ends early
  EXPECT_EQ(words_of(scene_of(chart), TextRole::kLegend), (Words{"a", "b"}));
}

TEST(LineChart, EveryPanelIsNamedAsItsCurvesAllow) {
  LineChart apart = chart_of({"a", {0, 1}, {3, 1}, {}, {}}), meeting = apart;
  for (const char* name : {"b", "c", "d"}) meeting.series.push_back({name, {0, 1}, {1, 1}, {}, {}});
  Figure figure = figure_of({"", apart});
  figure.panels.push_back({"", meeting});
  figure.columns = 2;
  const Scene scene = lay_out(figure, FixedMeasure());
  EXPECT_EQ(words_of(scene, TextRole::kEndLabel), Words{"a"});
  EXPECT_EQ(words_of(scene, TextRole::kLegend), (Words{"a", "b", "c", "d"}));
}

TEST(LineChart, ReferencesOfOneNameAreNamedOnce) {
  LineChart chart = chart_of({"a", {0, 1}, {3, 1}, {}, {}});
  chart.series.push_back({"b", {0, 1}, {1, 3}, {}, {}});
  chart.references = {{"null", {0, 1}, {0.5, 0.5}, 0}, {"null", {0, 1}, {0.7, 0.7}, 1}};
  EXPECT_EQ(words_of(scene_of(chart), TextRole::kLegend), Words{"null"});
}

// The ticks of every panel, from the left.
std::vector<Words> upright_ticks(const Figure& figure) {
  const Scene scene = lay_out(figure, FixedMeasure());
  std::vector<Words> all;
  for (const auto& plot : areas_of(scene, AreaKind::kPlot)) {
    Words words;
    for (const auto& text : texts_of(scene)) {
      const bool beside =
          text.role == TextRole::kTick && text.box.right() < plot.x && text.box.x > plot.x - 40;
      if (beside) words.push_back(text.text);
    }
    all.push_back(words);
  }
  return all;
}

TEST(Panels, OfOneQuantityShareTheirScale) {
  LineChart small = chart_of({"", {0, 1}, {0, 1}, {}, {}}), large = chart_of({"", {0, 1}, {0, 40}, {}, {}});
  small.y_title = large.y_title = "share";
  Figure figure = figure_of({"", small});
  figure.panels.push_back({"", large});
  figure.columns = 2;
  auto ticks = upright_ticks(figure);
  EXPECT_EQ(ticks[0], ticks[1]);
  EXPECT_EQ(ticks[0].back(), "40");
  auto& first = std::get<LineChart>(figure.panels[0].content);
  first.y_title = "another";
  ticks = upright_ticks(figure);
  EXPECT_NE(ticks[0], ticks[1]);
  first.y_title = "share";
  first.kind = "of single tokens";
  ticks = upright_ticks(figure);
  EXPECT_NE(ticks[0], ticks[1]);

  BarChart low, high;
  low.groups = high.groups = {"one"};
  low.y_title = high.y_title = "score";
  low.series = {{"", {1}, {}, {}}};
  high.series = {{"", {-30}, {}, {}}};
  figure.panels = {{"", low}, {"", high}};
  ticks = upright_ticks(figure);
  EXPECT_EQ(ticks[0], ticks[1]);
}

TEST(DotChart, EverySampleIsADotAtItsValue) {
  DotChart chart;
  chart.groups = {"one", "two"};
  chart.series = {{"", {{1, 1, kNan}, {3}}}};
  const auto dots = fills_of(scene_of(chart), series_color(0));
  ASSERT_EQ(dots.size(), 3u);
  const auto middle = [](const Shape& dot) { return dot.circles.at(0).middle; };
  EXPECT_NEAR(middle(dots[0]).y, middle(dots[1]).y, 1e-6);
  EXPECT_GT(middle(dots[1]).x - middle(dots[0]).x, 3) << "equal values stay apart";
  EXPECT_LT(middle(dots[2]).y, middle(dots[0]).y - 10);
}

TEST(DotChart, ABandLiesAboutTheNull) {
  DotChart chart = example_dots();
  const auto bands = fills_of(scene_of(chart), kBlack);
  ASSERT_FALSE(bands.empty());
  chart.null.reset();
  EXPECT_TRUE(fills_of(scene_of(chart), kBlack).size() < bands.size());
}

TEST(BarChart, BarsStandOnZeroAndReachTheirValue) {
  BarChart chart;
  chart.groups = {"one", "two", "three"};
  chart.series = {{"", {2, -1, kNan}, {}, {}}};
  const auto bars = fills_of(scene_of(chart), series_color(0));
  ASSERT_EQ(bars.size(), 2u);
  const auto top = [](const Shape& bar) { return bar.lines[0][0].y; };
  const auto bottom = [](const Shape& bar) { return bar.lines[0][2].y; };
  EXPECT_NEAR(bottom(bars[0]), top(bars[1]), 1e-9);
  EXPECT_NEAR(bottom(bars[0]) - top(bars[0]), 2 * (bottom(bars[1]) - top(bars[1])), 1e-9);
}

TEST(BarChart, WhiskersSpanTheInterval) {
  BarChart chart;
  chart.groups = {"one"};
  chart.series = {{"", {4}, {3}, {5}}};
  const Scene scene = scene_of(chart);
  const auto bar = fills_of(scene, series_color(0)).at(0);
  const double unit = (bar.lines[0][2].y - bar.lines[0][0].y) / 4;
  size_t whiskers = 0;
  for (const auto& item : scene.items) {
    const auto* shape = std::get_if<Shape>(&item);
    if (shape == nullptr || shape->lines.size() != 3 || !shape->stroke) continue;
    ++whiskers;
    EXPECT_NEAR(shape->lines[0][0].y - shape->lines[0][1].y, 2 * unit, 1e-9);
  }
  EXPECT_EQ(whiskers, 2u);  // a light rim and the line
}

TEST(BarChart, TurnsNamesThatDoNotFit) {
  BarChart chart;
  for (int i = 0; i < 9; ++i) {
    chart.groups.push_back("a dataset " + std::to_string(i));
  }
  chart.series = {{"", std::vector<double>(9, 1.0), {}, {}}};
  size_t turned = 0;
  for (const auto& text : texts_of(scene_of(chart))) turned += text.upward && text.role == TextRole::kTick;
  EXPECT_EQ(turned, 9u);
}

TEST(BarChart, DrawsNothingButZeros) {
  BarChart chart;
  chart.groups = {"one"};
  chart.series = {{"", {0}, {}, {}}};
  EXPECT_NO_THROW(scene_of(chart));
  chart.series = {{"", {kNan}, {}, {}}};
  EXPECT_NO_THROW(scene_of(chart));
}

}  // namespace
}  // namespace buoy::figure

#include <gtest/gtest.h>

#include <limits>

#include "buoy/base/error.h"
#include "buoy/figure/chart/figure.h"
#include "figure/examples.h"
#include "support/fails_with.h"

namespace buoy::figure {
namespace {

using namespace figure::testing;
using buoy::testing::fails_with;

::testing::AssertionResult refused(const Figure& figure, std::initializer_list<std::string> parts) {
  return fails_with<UsageError>([&] { check_figure(figure); }, parts);
}

template <typename Content>
::testing::AssertionResult refused(const Content& content, std::initializer_list<std::string> parts) {
  return refused(figure_of({"", content}), parts);
}

TEST(CheckFigure, AcceptsTheExamples) {
  for (const auto& figure : all_examples()) EXPECT_NO_THROW(check_figure(figure));
}

TEST(CheckFigure, RefusesPagesThatMakeNoSense) {
  EXPECT_TRUE(refused(Figure{}, {"figure: panels", "at least one", "none"}));
  Figure figure = example_page();
  figure.columns = 0;
  EXPECT_TRUE(refused(figure, {"figure: columns", "at least one", "none"}));
  figure = example_page();
  figure.width_mm = 5;
  EXPECT_TRUE(refused(figure, {"figure: width_mm", "20 to 2000", "5"}));
  figure = example_page();
  figure.height_mm = -1;
  EXPECT_TRUE(refused(figure, {"figure: height_mm", "10 to 5000", "-1"}));
  figure = example_page();
  figure.font_pt = 5;
  EXPECT_TRUE(refused(figure, {"figure: font_pt", "6 to 72", "5"}));
  figure = example_page();
  figure.png_dpi = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(refused(figure, {"figure: png_dpi", "nan"}));
}

TEST(CheckFigure, RefusesMatricesThatContradictThemselves) {
  EXPECT_TRUE(refused(Heatmap{}, {"panel 1: heatmap: rows", "at least one", "none"}));
  Heatmap map = example_steps();
  map.matrix.values.pop_back();
  EXPECT_TRUE(refused(map, {"heatmap: values", "1664", "1663"}));
  map = example_steps();
  map.x.names.pop_back();
  EXPECT_TRUE(refused(map, {"x axis: names", "52", "51"}));
  map = example_steps();
  map.y.step = 0;
  EXPECT_TRUE(refused(map, {"y axis", "step not 0", "0"}));
  map = example_steps();
  map.marks[0].cells.push_back({32, 0});
  EXPECT_TRUE(refused(map, {"marks 'revealed'", "32 rows and 52 columns", "row 32, column 0"}));
  map = example_steps();
  map.decimals = -1;
  EXPECT_TRUE(refused(map, {"decimals", "0 to 9", "-1"}));
}

TEST(CheckFigure, RefusesLineChartsThatContradictThemselves) {
  EXPECT_TRUE(refused(LineChart{}, {"line chart: series", "at least one", "none"}));
  LineChart chart = example_lines();
  chart.series[1].y.pop_back();
  EXPECT_TRUE(refused(chart, {"number 1': y", "32", "31"}));
  chart = example_lines();
  chart.series[0].lower.clear();
  EXPECT_TRUE(refused(chart, {"number 0': lower", "32", "0"}));
  chart = example_lines();
  chart.series[0].lower[3] = 9;
  EXPECT_TRUE(refused(chart, {"interval 3", "lower <= upper", "9"}));
  chart = example_lines();
  chart.series[0].x[0] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(refused(chart, {"number 0': x", "finite", "inf"}));
  chart = example_lines();
  chart.series[0] = {"empty", {}, {}, {}, {}};
  EXPECT_TRUE(refused(chart, {"series 'empty': points", "at least one", "none"}));
  chart = example_lines();
  chart.references[0].of_series = 4;
  EXPECT_TRUE(refused(chart, {"reference 'null': of_series", "less than 4", "4"}));
  chart = example_lines();
  chart.y_low = 1;
  chart.y_high = 0;
  EXPECT_TRUE(refused(chart, {"y_low, y_high", "y_low < y_high", "1 and 0"}));
  chart = example_lines();
  chart.y_scale = AxisScale::kLog;
  chart.y_low = 0;
  EXPECT_TRUE(refused(chart, {"y_low, y_high", "0"}));
}

TEST(CheckFigure, RefusesBarChartsThatContradictThemselves) {
  EXPECT_TRUE(refused(BarChart{}, {"bar chart: groups", "at least one", "none"}));
  BarChart chart = example_bars();
  chart.series.clear();
  EXPECT_TRUE(refused(chart, {"bar chart: series", "at least one", "none"}));
  chart = example_bars();
  chart.series[0].values.pop_back();
  EXPECT_TRUE(refused(chart, {"series 'baseline': values", "5", "4"}));
  chart = example_bars();
  chart.references.pop_back();
  EXPECT_TRUE(refused(chart, {"references", "5", "4"}));
}

TEST(CheckFigure, RefusesDotChartsThatContradictThemselves) {
  EXPECT_TRUE(refused(DotChart{}, {"dot chart: groups", "at least one", "none"}));
  DotChart chart = example_dots();
  chart.series[0].values.pop_back();
  EXPECT_TRUE(refused(chart, {"series 'networks of this study': values", "2", "1"}));
  chart = example_dots();
  chart.means.pop_back();
  EXPECT_TRUE(refused(chart, {"means", "2", "1"}));
  chart = example_dots();
  std::swap(chart.means[0].lower, chart.means[0].upper);
  EXPECT_TRUE(refused(chart, {"means", "lower <= upper"}));
}

TEST(CheckFigure, RefusesAStripWithoutTokens) {
  EXPECT_TRUE(refused(TokenStrip{}, {"token strip: tokens", "at least one", "none"}));
}

TEST(CheckFigure, OneScaleNeedsEqualScales) {
  Figure figure = all_examples().back();
  std::get<Heatmap>(figure.panels[1].content).colors.map = ColorMap::kBlues;
  EXPECT_TRUE(refused(figure, {"figure: one_scale", "the same colour scale", "differ"}));
  figure = figure_of({"", example_bars()});
  figure.one_scale = true;
  EXPECT_TRUE(refused(figure, {"figure: one_scale", "a panel with colours", "none"}));
}

}  // namespace
}  // namespace buoy::figure

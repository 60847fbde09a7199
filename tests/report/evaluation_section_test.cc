#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "buoy/report/section.h"
#include "support/written_table.h"

namespace buoy::report {
namespace {

using testing::add_cells;

Table scores_table() {
  Table table =
      testing::written_table("eval_scores", {"trace", "model", "set", "condition", "kind", "axis", "value",
                                             "items", "failed", "metric", "mean", "lower", "upper"});
  for (const char* metric : {"exact_match", "f1"}) {
    for (int n = 1; n <= 5; ++n) {
      const std::string value = std::to_string(n);
      add_cells(table, {"position", "m", "nq", "gold-position=" + value, "masked diffusion", "gold-position",
                        value, 40, 0, metric, n == 3 ? 0.5 : 0.9, 0.4, 0.95});
    }
    add_cells(table,
              {"base", "m", "nq", "closed-book", "masked diffusion", "", "", 40, 0, metric, 0.1, 0.0, 0.2});
    add_cells(table,
              {"base", "m", "nq", "passages", "masked diffusion", "", "", 40, 0, metric, 0.8, 0.7, 0.9});
  }
  return table;
}

TEST(EvaluationSection, HasACurveForASweepAndBarsForConditions) {
  const Table tables[] = {scores_table()};
  const auto section = build_section("evaluation", tables);
  ASSERT_EQ(section.figures.size(), 2u);
  EXPECT_EQ(section.figures[0].name, "eval_sweep_gold-position_position");
  EXPECT_EQ(section.figures[1].name, "eval_scores_base");
  std::string readings;
  for (const auto& reading : section.readings) readings += reading + "\n";
  EXPECT_NE(readings.find("runs from 0.5 (gold-position = 3) to 0.9"), std::string::npos) << readings;
  EXPECT_NE(readings.find("closed-book 0.1 [0, 0.2], passages 0.8 [0.7, 0.9]"), std::string::npos)
      << readings;
}

Table controlled_table(const std::vector<std::string>& axes) {
  Table table =
      testing::written_table("eval_scores", {"trace", "model", "set", "condition", "kind", "axis", "value",
                                             "items", "failed", "metric", "mean", "lower", "upper"});
  for (const char* model : {"m", "n"}) {
    for (const auto& axis : axes) {
      for (const int keys : {0, 1, 10}) {
        if (keys == 0 && axis != axes.front()) continue;
        const std::string value = std::to_string(keys);
        const double mean = keys == 0 ? 1.0 : axis == axes.front() ? 0.25 : 0.75;
        add_cells(table, {"base", model, "unknown", axis + "=" + value, "masked diffusion", axis, value, 24,
                          0, "exact_match", mean, mean - 0.125, 1.0});
      }
    }
  }
  return table;
}

TEST(EvaluationSection, DrawsASweepAndItsControlsTogether) {
  const Table tables[] = {controlled_table({"hidden-keys", "hidden-keys-random", "hidden-keys-mass"})};
  const auto section = build_section("evaluation", tables);
  ASSERT_EQ(section.figures.size(), 1u);
  EXPECT_EQ(section.figures[0].name, "eval_sweep_hidden-keys_base");
  const auto& panels = section.figures[0].figure.panels;
  ASSERT_EQ(panels.size(), 2u);
  EXPECT_EQ(panels[0].title, "m");
  EXPECT_EQ(panels[1].title, "n");
  const auto& chart = std::get<figure::LineChart>(panels[1].content);
  ASSERT_EQ(chart.series.size(), 3u);
  EXPECT_EQ(chart.series[0].name, "top keys");
  EXPECT_EQ(chart.series[1].name, "random");
  EXPECT_EQ(chart.series[2].name, "same mass");
  for (const auto& series : chart.series) {
    EXPECT_EQ(series.x, (std::vector<double>{0, 1, 10})) << "controls begin where nothing is hidden";
    EXPECT_EQ(series.y, (series.name == "top keys" ? std::vector<double>{1, 0.25, 0.25}
                                                   : std::vector<double>{1, 0.75, 0.75}));
    EXPECT_EQ(series.lower.size(), 3u);
    EXPECT_EQ(series.dashed, series.name != "top keys");
  }
}

TEST(EvaluationSection, NamesSeveralDrawsOfAControlOnce) {
  const Table tables[] = {controlled_table({"heads-off", "heads-off-random-1", "heads-off-random-2"})};
  const auto section = build_section("evaluation", tables);
  ASSERT_EQ(section.figures.size(), 1u);
  const auto& chart = std::get<figure::LineChart>(section.figures[0].figure.panels[0].content);
  ASSERT_EQ(chart.series.size(), 3u);
  EXPECT_EQ(chart.series[1].name, "random");
  EXPECT_EQ(chart.series[2].name, "");
  EXPECT_EQ(chart.series[1].style, chart.series[2].style);
}

// "noise-kind" is an axis of its own.
TEST(EvaluationSection, DrawsAxesThatAreNoControlsApart) {
  const Table tables[] = {controlled_table({"noise", "noise-kind"})};
  EXPECT_EQ(build_section("evaluation", tables).figures.size(), 2u);
}

TEST(EvaluationSection, DrawsHaystacksAsAMapForEachModel) {
  Table haystack = testing::written_table("eval_haystack", {"trace", "model", "set", "condition", "length",
                                                            "depth", "items", "mean", "lower", "upper"});
  for (const char* model : {"m", "n"}) {
    for (const int length : {1024, 256}) {
      for (const int depth : {100, 0})
        add_cells(haystack, {"base", model, "needles", "passages", std::int64_t{length}, std::int64_t{depth},
                             std::int64_t{8}, length == 1024 && depth == 0 ? 0.25 : 1.0, 0.125, 1.0});
    }
  }
  const Table tables[] = {scores_table(), haystack};
  const auto section = build_section("evaluation", tables);
  const auto found = std::find_if(section.figures.begin(), section.figures.end(), [](const auto& figure) {
    return figure.name == "eval_haystack_needles_base";
  });
  ASSERT_NE(found, section.figures.end());
  EXPECT_NE(found->caption.find("at most 0.88"), std::string::npos) << found->caption;
  EXPECT_NE(found->figure.caption.find("n = 8 items each"), std::string::npos) << found->figure.caption;
  ASSERT_EQ(found->figure.panels.size(), 2U);
  const auto& map = std::get<figure::Heatmap>(found->figure.panels[0].content);
  EXPECT_EQ(map.x.names, (std::vector<std::string>{"256", "1024"})) << "in order, as numbers";
  EXPECT_EQ(map.y.names, (std::vector<std::string>{"0", "100"}));
  EXPECT_EQ(map.matrix.values, (std::vector<double>{1, 0.25, 1, 1}));
  std::string readings;
  for (const auto& reading : section.readings) readings += reading + "\n";
  EXPECT_NE(readings.find("runs from 0.25 (1024 tokens, depth 0%) to 1 ("), std::string::npos) << readings;
}

}  // namespace
}  // namespace buoy::report

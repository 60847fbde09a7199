#include "buoy/report/model_colors.h"

#include <gtest/gtest.h>

#include "buoy/figure/chart/color.h"
#include "buoy/result/schema/evaluation.h"
#include "claims/claims_support.h"

namespace buoy::report {
namespace {

figure::LineChart lines_of(const std::vector<std::string>& names) {
  figure::LineChart chart;
  for (const auto& name : names) {
    figure::Series series;
    series.name = name;
    chart.series.push_back(series);
  }
  return chart;
}

std::vector<size_t> styles_of(const ModelColors& colors, const std::vector<std::string>& names) {
  Section section;
  figure::Figure page;
  page.panels.push_back({"", lines_of(names)});
  section.figures.push_back({"f", "", page});
  colors.paint(section);
  std::vector<size_t> styles;
  for (const auto& series : std::get<figure::LineChart>(section.figures[0].figure.panels[0].content).series)
    styles.push_back(series.style.value());
  return styles;
}

TEST(ModelColors, AModelHasOneColourWhereverItStandsAndUnderEitherName) {
  ModelColors colors;
  colors.add_trace("diffusion", "planted-diffusion");
  colors.add_trace("autoregressive", "planted-autoregressive");
  colors.add_trace("recall.diffusion", "planted-diffusion");
  EXPECT_EQ(styles_of(colors, {"diffusion", "autoregressive"}), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(styles_of(colors, {"autoregressive"}), (std::vector<size_t>{1}));
  EXPECT_EQ(styles_of(colors, {"planted-autoregressive", "recall.diffusion"}), (std::vector<size_t>{1, 0}));
  EXPECT_EQ(styles_of(colors, {"diffusion", "recall.diffusion"}), (std::vector<size_t>{0, 2}))
      << "two traces of one model can be told apart";
}

TEST(ModelColors, WhatIsNoModelHasNoModelsColour) {
  ModelColors colors;
  colors.add_trace("a", "a");
  colors.add_trace("b", "b");
  EXPECT_EQ(styles_of(colors, {"direction", "scale"}), (std::vector<size_t>{2, 3}));
  for (const size_t style : styles_of(colors, {"c", "d", "e", "f", "g", "h", "i", "j"}))
    EXPECT_GE(style % figure::series_color_count(), 2u) << "colours come round without those of models";
  EXPECT_EQ(styles_of(colors, {"floating tokens", "b", "all tokens"}), (std::vector<size_t>{2, 1, 3}));
}

TEST(ModelColors, RunsOfAnEvaluationAreNoModels) {
  for (const TableSchema* declared : schema::kEvaluationTables) {
    if (declared == &schema::eval_scores) continue;
    ModelColors colors;
    colors.add_names(std::vector<Table>{claims::table(std::string(declared->name()), {"trace"}, {{"run"}})});
    EXPECT_EQ(styles_of(colors, {"other", "run"}), (std::vector<size_t>{0, 1})) << declared->name();
  }
  ModelColors colors;
  colors.add_names(std::vector<Table>{claims::table("eval_scores", {"trace", "model"}, {{"run", "a"}}),
                                      claims::table("drift_summary", {"trace"}, {{"d"}})});
  EXPECT_EQ(styles_of(colors, {"other", "a", "d", "run"}), (std::vector<size_t>{2, 0, 1, 3}));
}

}  // namespace
}  // namespace buoy::report

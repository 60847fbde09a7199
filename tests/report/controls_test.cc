// Untrained networks: drawn beside models, in no reading and no verdict.

#include "buoy/report/controls.h"

#include <gtest/gtest.h>

#include "buoy/base/file/files.h"
#include "buoy/report/page.h"
#include "buoy/report/sections.h"
#include "claims/claims_support.h"
#include "support/temp_folder.h"

namespace buoy::report {
namespace {

using claims::table;

Table retrieval(const std::vector<std::string>& traces) {
  Table out = table(
      "retrieval_by_layer",
      {"trace", "layer", "tests", "strict_set", "strict_set_lower", "strict_set_upper", "chance_strict_set"},
      {});
  for (const auto& trace : traces) {
    for (const double layer : {0.0, 1.0})
      out.rows.push_back({trace, layer, 12.0, 0.1 * layer, 0.0, 0.2, 0.01});
  }
  return out;
}

const std::vector<Control> kControls = {{"untrained-d", "m, untrained (seed 1)", {"d"}}};

TEST(Controls, RowsAreToldApartByTraceOtherTraceAndModel) {
  const std::vector<Table> tables = {
      retrieval({"d", "untrained-d"}),
      table("absorption_pairs", {"trace", "other"}, {{"d", "untrained-d"}, {"d", "a"}}),
      table("tasks_by_layer", {"model", "layer"},
            {{"m", 0.0}, {"m, untrained (seed 1)", 0.0}, {"m, untrained (seed 1) (two-hop)", 0.0}})};
  const auto models = rows_of(Rows::kOfModels, tables, kControls);
  const auto controls = rows_of(Rows::kOfControls, tables, kControls);
  EXPECT_EQ(models[0].rows.size(), 2u);
  EXPECT_EQ(controls[0].rows.size(), 2u);
  EXPECT_EQ(models[1].rows.size(), 1u);
  EXPECT_EQ(text_of(models[1].rows[0][1]), "a");
  EXPECT_EQ(models[2].rows.size(), 1u);
  EXPECT_EQ(controls[2].rows.size(), 2u);
}

figure::LineChart chart_of(const std::string& name) {
  return {"Layer", "Score", {{name, {0, 1}, {0.1, 0.2}, {}, {}}}, {}, {}, {}, {}};
}

Section section_with(const figure::LineChart& chart, const std::string& caption) {
  Section section;
  NamedFigure named{"scores", "What is drawn.", {}};
  named.figure.caption = caption;
  named.figure.panels = {{"Panel", chart}};
  section.figures = {named};
  return section;
}

TEST(Controls, AreDashedCurvesInTheColourOfTheirModel) {
  Section section = section_with(chart_of("d"), "n = 24 samples");
  add_controls(section, section_with(chart_of("untrained-d"), "n = 10 samples"), kControls);
  const auto& figure = section.figures[0].figure;
  const auto& chart = std::get<figure::LineChart>(figure.panels[0].content);
  ASSERT_EQ(chart.series.size(), 1u) << "no model more";
  ASSERT_EQ(chart.references.size(), 1u);
  EXPECT_EQ(chart.references[0].name, kUntrainedName);
  EXPECT_EQ(chart.references[0].of_series, 0u);
  EXPECT_TRUE(chart.references[0].dashed);
  EXPECT_EQ(figure.caption, "n = 24 samples; untrained: n = 10 samples");
  EXPECT_NE(section.figures[0].caption.find("never trained"), std::string::npos);
}

TEST(Controls, OfOneQuantityGoBesideThatQuantity) {
  auto models = chart_of("d, with step");
  models.series.push_back({"d, with frontier", {0, 1}, {0, 0}, {}, {}});
  Section section = section_with(models, "");
  add_controls(section, section_with(chart_of("untrained-d, with frontier"), ""), kControls);
  const auto& chart = std::get<figure::LineChart>(section.figures[0].figure.panels[0].content);
  ASSERT_EQ(chart.references.size(), 1u);
  EXPECT_EQ(chart.references[0].of_series, 1u);
}

TEST(Controls, AreInTheTablesOfAReportAndInNoVerdict) {
  const testing::TempFolder folder;
  ReportInput input;
  input.analyses = {{"retrieval", "Retrieval heads", {retrieval({"d", "untrained-d"})}}};
  input.traces.push_back({.kind = {"d", true, 20}, .facts = {}, .model = "m", .config = "c"});
  input.traces.push_back({.kind = {"untrained-d", true, 10},
                          .facts = {},
                          .model = "m, untrained (seed 1)",
                          .control = true,
                          .config = "c"});
  write_report(input, folder / "r");
  EXPECT_NE(read_file(folder / "r/tables/retrieval_by_layer.csv").find("untrained-d"), std::string::npos);
  const std::string claims = read_file(folder / "r/tables/claims.csv");
  EXPECT_EQ(claims.find("untrained"), std::string::npos);
  EXPECT_NE(claims.find("C6,d,"), std::string::npos) << "the model itself is judged";
}

}  // namespace
}  // namespace buoy::report

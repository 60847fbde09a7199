#include <gtest/gtest.h>

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

}  // namespace
}  // namespace buoy::report

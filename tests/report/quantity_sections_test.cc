// Sections of quantities beside their nulls: what they draw and say, from small tables.

#include <gtest/gtest.h>

#include "buoy/report/section.h"
#include "buoy/result/schema/heads.h"
#include "buoy/result/schema/kvdrift.h"
#include "buoy/result/schema/rollout.h"
#include "buoy/result/schema/sinks.h"
#include "buoy/result/schema/steps.h"

namespace buoy::report {
namespace {

// Two layers: below the null in the first, above it in the second.
Table two_layers(const schema::QuantityByLayer& t, const std::vector<std::string>& quantities) {
  Table table(t);
  for (const std::int64_t layer : {0, 1}) {
    for (const auto& quantity : quantities) {
      const double excess = layer == 0 ? -0.25 : 0.25;
      table.add({{t.layer, layer},
                 {t.quantity, quantity},
                 {t.value, IntervalCells{0.5 + excess, 0.4 + excess, 0.6 + excess}},
                 {t.null, 0.5},
                 {t.excess, IntervalCells{excess, excess - 0.1, excess + 0.1}},
                 {t.samples, std::int64_t{12}}});
    }
  }
  return stack({{"d", table}});
}

struct Case {
  const Producer& producer;
  const schema::QuantityByLayer& layers;
  std::vector<std::string> quantities;
  std::string says;
  std::size_t figures = 1;
};

TEST(QuantitySections, DrawValuesBesideTheirNulls) {
  const std::vector<Case> cases = {
      {schema::kSinks,
       schema::sinks_by_layer,
       {"best_above", "same_best", "stays", "drain"},
       "0.5 (null 0.5)",
       3},
      {schema::kHeads,
       schema::heads_by_layer,
       {"entropy", "attended_length"},
       "below even attention in 1 of 2 layers",
       2},
      {schema::kSteps, schema::steps_by_layer, {"cosine", "recall"}, "with the step before 0.5 (null 0.5)"},
      {schema::kKvDrift, schema::kvdrift_by_layer, {"keys", "keys_best"}, "in 1 of 2 layers (keys)"},
      {schema::kRollout, schema::rollout_by_layer, {"evidence"}, "in 1 of 2 layers"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(std::string(one.producer.name));
    const auto section = build_section(std::string(one.producer.name),
                                       std::vector<Table>{two_layers(one.layers, one.quantities)});
    EXPECT_EQ(section.figures.size(), one.figures);
    std::size_t panels = 0;
    for (const auto& figure : section.figures) {
      panels += figure.figure.panels.size();
      EXPECT_NE(figure.figure.caption.find("n = 12"), std::string::npos);
    }
    EXPECT_EQ(panels, one.quantities.size());
    ASSERT_EQ(section.readings.size(), 1u);
    EXPECT_NE(section.readings[0].find(one.says), std::string::npos) << section.readings[0];
    // Without tables there is nothing to draw, and nothing breaks.
    EXPECT_TRUE(build_section(std::string(one.producer.name), {}).figures.empty());
  }
}

}  // namespace
}  // namespace buoy::report

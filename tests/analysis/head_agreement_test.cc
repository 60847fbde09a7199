#include "buoy/analysis/retrieval/head_agreement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/result/schema/retrieval.h"
#include "support/fails_with.h"
#include "support/written_table.h"

namespace buoy::analysis {
namespace {

const Interval* const kMass[] = {&schema::retrieval_by_head.mass};

Table scores() {
  return testing::written_table("retrieval_by_head", {"trace", "layer", "head", "mass"});
}

void add(Table& table, const std::string& trace, std::int64_t heads, const std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    testing::add_cells(table, {trace, at / heads, at % heads, values[i]});
  }
}

TEST(HeadAgreement, PairsOfTracesByHand) {
  Table table = scores();
  add(table, "a", 2, {0, 1, 2, 3});
  add(table, "b", 2, {0, 2, 4, 6});  // the same, scaled
  add(table, "c", 2, {9, 1, 1, 0});  // ranks 4, 2.5, 2.5, 1 against 1, 2, 3, 4
  add(table, "d", 4, {0, 1, 2, 3});  // the same scores on one layer of four heads
  const Table out = head_agreement(table, kMass, 0.25);
  ASSERT_EQ(out.rows.size(), 6u);
  const auto& t = schema::retrieval_agreement;
  const auto number = [&](size_t row, const ColumnSchema& column) {
    return number_of(out.rows[row][out.column(column)]);
  };
  EXPECT_DOUBLE_EQ(number(0, t.pearson), 1);
  EXPECT_DOUBLE_EQ(number(0, t.spearman), 1);
  EXPECT_DOUBLE_EQ(number(0, t.top_shared), 1);
  EXPECT_DOUBLE_EQ(number(0, t.top_chance), 0.25);
  // a and c: centred (-1.5, -.5, .5, 1.5) and (6.25, -1.75, -1.75, -2.75): -13.5 / sqrt(5 * 52.75).
  EXPECT_NEAR(number(1, t.pearson), -13.5 / std::sqrt(5 * 52.75), 1e-12);
  // Ranks centred (-1.5, -.5, .5, 1.5) and (1.5, 0, 0, -1.5): -4.5 / sqrt(5 * 4.5).
  EXPECT_NEAR(number(1, t.spearman), -4.5 / std::sqrt(5 * 4.5), 1e-12);
  EXPECT_DOUBLE_EQ(number(1, t.top_shared), 0);
  EXPECT_EQ(number(2, t.heads), 0) << "a and d have other layers and heads";
  EXPECT_EQ(text_of(out.rows[2][out.column(t.pearson)]), "");
}

TEST(HeadAgreement, NamesAMissingScore) {
  const Interval* hit_rate[] = {&schema::retrieval_by_head.hit_rate};
  EXPECT_TRUE(testing::fails_with<UsageError>([&] { head_agreement(scores(), hit_rate); }, {"hit_rate"}));
}

}  // namespace
}  // namespace buoy::analysis

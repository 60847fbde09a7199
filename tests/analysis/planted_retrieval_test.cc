#include "analysis/planted_retrieval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/written_table.h"

namespace buoy::testing {
namespace {

std::map<std::string, std::string> at_head(int layer, int head) {
  return {{"layer", std::to_string(layer)}, {"head", std::to_string(head)}};
}

TEST(PlantedRetrieval, HeadsComeBackWithTheirScores) {
  // Head (1, 3) finds each needle token with 0.9, head (2, 5) with 0.3; by chance 1 key of 66 is right.
  const auto tables = plant_retrieval({4, 8, 4}, {{{1, 3}, 0.9}, {{2, 5}, 0.3}}, 60, 21).analyze("retrieval");
  const Table& heads = table_of(tables, "retrieval_by_head");
  const auto number = [&](int l, int h, const char* column) {
    return number_at(heads, at_head(l, h), column);
  };
  // 180 draws: standard errors 0.022 and 0.034.
  const double strong = 0.9 + 0.1 / 66, weak = 0.3 + 0.7 / 66;
  EXPECT_NEAR(number(1, 3, "strict_set"), strong, 0.07);
  EXPECT_NEAR(number(2, 5, "strict_set"), weak, 0.1);
  EXPECT_LE(number(1, 3, "strict_set_lower"), strong);
  EXPECT_GE(number(1, 3, "strict_set_upper"), strong);
  EXPECT_DOUBLE_EQ(number(1, 3, "strict_set"), number(1, 3, "strict_added")) << "no token repeats";
  // Half of the answer tokens are needle tokens: hits 0.45 and a few by chance; mass 0.8 where it finds.
  EXPECT_NEAR(number(1, 3, "hit_rate"), 0.45 + 0.55 * 3 / 66, 0.05);
  EXPECT_NEAR(number(1, 3, "mass"), 0.45 * 0.8 + 0.55 * 3 / 66, 0.05);
  EXPECT_DOUBLE_EQ(number(1, 3, "mass_over_max"), 1);
  EXPECT_NEAR(number(1, 3, "activation"), 1, 0.03);
  EXPECT_NEAR(number(0, 0, "chance_strict_set"), 1.0 / 66, 1e-9);
  EXPECT_NEAR(number(0, 0, "chance_hit_rate"), 3.0 / 66, 1e-9);
  int found = 0;
  for (const auto& row : heads.rows)
    found += text_of(row[testing::column_named(heads, "above_chance")]) == "yes";
  EXPECT_EQ(found, 2) << "the two planted heads and no other";
  const Table& summary = table_of(tables, "retrieval_summary");
  EXPECT_EQ(number_at(summary, {{"variant", "strict_set"}, {"statistic", "heads >= 0.1"}}, "value"), 2);
  EXPECT_EQ(number_at(summary, {{"variant", "strict_set"}, {"statistic", "heads >= 0.5"}}, "value"), 1);
  EXPECT_EQ(number_at(table_of(tables, "retrieval_tests"), {{"what", "tests that pass Wu's gate"}}, "value"),
            60);
}

// The same heads under every mask, for both offsets and in longer prompts; chance is what the mask leaves.
TEST(PlantedRetrieval, ScoresDoNotDependOnMaskOffsetAndLength) {
  for (const auto& design :
       {NeedleDesign{"bidirectional", 0, 240}, NeedleDesign{"bidirectional", 1, 60},
        NeedleDesign{"causal", 0, 60}, NeedleDesign{"causal", 1, 240}, NeedleDesign{"prefix", 1, 60}}) {
    const auto tables = plant_retrieval({4, 8, 4}, {{{2, 5}, 0.5}}, 60, 24, design).analyze("retrieval");
    const Table& heads = table_of(tables, "retrieval_by_head");
    double chance = 0;
    for (std::int64_t i = 0; i < kNeedle; ++i) chance += 1 / static_cast<double>(design.keys(i)) / kNeedle;
    // 180 draws: standard error 0.037.
    EXPECT_NEAR(number_at(heads, at_head(2, 5), "strict_set"), 0.5 + 0.5 * chance, 0.11) << design.attention;
    EXPECT_NEAR(number_at(heads, at_head(0, 0), "chance_strict_set"), chance, 1e-9) << design.attention;
    int found = 0;
    for (const auto& row : heads.rows)
      found += text_of(row[testing::column_named(heads, "above_chance")]) == "yes";
    EXPECT_EQ(found, 1) << "one head of 32, " << design.attention << design.offset;
  }
}

TEST(PlantedRetrieval, NullHeadsStayAtChance) {
  // 1,200 heads with an even arg-max. By p < 0.05 at most 5% may say so (standard error 0.6%); by
  // above_chance, one head or more of all in at most 5% of traces.
  const auto tables = plant_retrieval({40, 30, 4}, {}, 24, 22).analyze("retrieval");
  const Table& heads = table_of(tables, "retrieval_by_head");
  double strict = 0, hit = 0, score = 0, mass = 0;
  for (const auto& row : heads.rows) {
    strict += number_of(row[testing::column_named(heads, "p_strict")]) < 0.05;
    hit += number_of(row[testing::column_named(heads, "p_hit")]) < 0.05;
    score += number_of(row[testing::column_named(heads, "hit_rate")]) / 1200;
    mass += number_of(row[testing::column_named(heads, "mass")]) / 1200;
    EXPECT_EQ(text_of(row[testing::column_named(heads, "above_chance")]), "no");
    EXPECT_EQ(text_of(row[testing::column_named(heads, "hit_above_chance")]), "no");
  }
  ASSERT_EQ(heads.rows.size(), 1200u);
  EXPECT_LE(strict / 1200, 0.07);
  EXPECT_LE(hit / 1200, 0.07);
  // 172,800 draws: standard error 0.0005.
  EXPECT_NEAR(score, 3.0 / 66, 0.002);
  EXPECT_NEAR(mass, 3.0 / 66, 0.002);
}

TEST(PlantedRetrieval, DepthCorrelationHasAnInterval) {
  // Skill rises with depth in every head: 0, 0.2, 0.4, 0.6.
  HeadSkill skill;
  for (std::int64_t l = 0; l < 4; ++l) {
    for (std::int64_t h = 0; h < 4; ++h) skill[{l, h}] = 0.2 * static_cast<double>(l);
  }
  const auto tables = plant_retrieval({4, 4, 4}, skill, 40, 23).analyze("retrieval");
  const Table& summary = table_of(tables, "retrieval_summary");
  const std::map<std::string, std::string> where = {{"variant", "strict_set"},
                                                    {"statistic", "pearson of layer and layer mean"}};
  EXPECT_GT(number_at(summary, where, "value"), 0.98);
  EXPECT_GT(number_at(summary, where, "value_lower"), 0.95);
}

}  // namespace
}  // namespace buoy::testing

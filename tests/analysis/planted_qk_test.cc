#include "analysis/planted_qk.h"

#include <gtest/gtest.h>

#include <cmath>

namespace buoy::testing {
namespace {

const std::map<std::string, std::string> kSet = {{"set", "three_sigma_head"}, {"stage", "after"}};

std::map<std::string, std::string> at_layer(int layer) {
  auto where = kSet;
  where["layer"] = std::to_string(layer);
  return where;
}

TEST(PlantedQk, AColumnIsTheMeanOverTheOtherQueriesThatSeeIt) {
  for (const std::string attention : {"bidirectional", "causal", "prefix"}) {
    const PlantedKey one{2, 0.6};
    Draws draws(5);
    const std::int64_t floating = draws.below(kQkTokens);
    const QkVectors v = draw_vectors(draws, one, floating);  // of head 0
    analysis::AnalysisOptions options;
    options.layer = options.head = options.sample = 0;
    const auto tables = plant_qk({one}, 1, 5, {attention}).analyze("qk", options);
    const Table after = rows_where(table_of(tables, "qk_columns"), {{"stage", "after"}});
    // The last column of a causal mask has no query but its own.
    EXPECT_EQ(std::ssize(after.rows), attention == "bidirectional" ? kQkTokens : kQkTokens - 1) << attention;
    for (std::int64_t j = 0; j < std::ssize(after.rows); ++j) {
      double sum = 0, seeing = 0;
      for (std::int64_t i = 0; i < kQkTokens; ++i) {
        if (i == j || !sees_key(attention, i, j)) continue;
        sum += dot(v.queries[static_cast<size_t>(i)], v.keys[static_cast<size_t>(j)]);
        seeing += 1;
      }
      EXPECT_NEAR(number_at(after, {{"position", std::to_string(j)}}, "dot"), sum / seeing, 1e-4)
          << attention << ", column " << j;
    }
  }
}

TEST(PlantedQk, AngleLengthAndMixedAdvantagesComeBackWithTheirSplit) {
  // Layer 0: length only (3 times). Layer 1: both, norm 1.5 and cosine 0.6 against 1 and 0.3: order-free
  // scale 0.5 * 0.45 = 0.225, direction 0.3 * 1.25 = 0.375 of 0.6, so 0.375 and 0.625. Layer 2: angle only
  // (0.9).
  const auto tables = plant_qk({{3, 0.3}, {1.5, 0.6}, {1, 0.9}}, 40, 11).analyze("qk");
  const Table& layers = table_of(tables, "qk_by_layer");
  const double angle[] = {0, 0.625, 1}, scale[] = {1, 0.375, 0};
  for (int layer = 0; layer < 3; ++layer) {
    EXPECT_NEAR(number_at(layers, at_layer(layer), "fraction_angle"), angle[layer], 0.03) << layer;
    EXPECT_NEAR(number_at(layers, at_layer(layer), "fraction_scale"), scale[layer], 0.03) << layer;
    EXPECT_LE(number_at(layers, at_layer(layer), "fraction_angle_lower"), angle[layer] + 0.01);
    EXPECT_GE(number_at(layers, at_layer(layer), "fraction_angle_upper"), angle[layer] - 0.01);
    // One direction of all queries: no covariance of length and angle.
    EXPECT_NEAR(number_at(layers, at_layer(layer), "fraction_residual"), 0, 0.01);
    EXPECT_EQ(number_at(layers, at_layer(layer), "floating_columns"), 1);
    EXPECT_EQ(number_at(layers, at_layer(layer), "defined"), 1);
  }
  // Mean |q| is 2. Advantages: 2 (3 * 0.3 - 0.3) = 1.2; 2 (0.9 - 0.3) = 1.2; the same; ranks at the very top.
  for (int layer = 0; layer < 3; ++layer)
    EXPECT_NEAR(number_at(layers, at_layer(layer), "advantage"), 1.2, 0.03) << layer;
  EXPECT_EQ(number_at(layers, at_layer(2), "rank_cosine"), 0);
  EXPECT_EQ(number_at(layers, at_layer(0), "rank_norm"), 0);
  EXPECT_GT(number_at(layers, at_layer(0), "z_norm"), 20);
  EXPECT_LT(std::abs(number_at(layers, at_layer(0), "z_cosine")), 0.5);
}

// The same truth under every mask and in rows of other lengths.
TEST(PlantedQk, TheSplitDoesNotDependOnMaskAndLength) {
  const double angle[] = {0, 0.625, 1};
  for (const std::string attention : {"bidirectional", "causal", "prefix"}) {
    for (const std::int64_t tokens : {24, 160}) {
      const QkDesign design{attention, tokens, tokens / 2};
      const auto tables = plant_qk({{3, 0.3}, {1.5, 0.6}, {1, 0.9}}, 24, 15, design).analyze("qk");
      const Table& layers = table_of(tables, "qk_by_layer");
      for (int layer = 0; layer < 3; ++layer) {
        EXPECT_NEAR(number_at(layers, at_layer(layer), "fraction_angle"), angle[layer], 0.03)
            << attention << tokens;
        EXPECT_NEAR(number_at(layers, at_layer(layer), "fraction_scale"), 1 - angle[layer], 0.03)
            << attention << tokens;
      }
      auto where = kSet;
      where["statistic"] = "slope of the fraction due to angle";
      EXPECT_NEAR(number_at(table_of(tables, "qk_depth"), where, "value"), 1, 0.05) << attention << tokens;
    }
  }
}

TEST(PlantedQk, TheShareDueToAngleRisesWithDepth) {
  // 0, 0.625, 1 at depths 0, 0.5, 1: slope 1.
  const auto tables = plant_qk({{3, 0.3}, {1.5, 0.6}, {1, 0.9}}, 40, 12).analyze("qk");
  auto where = kSet;
  where["statistic"] = "slope of the fraction due to angle";
  const Table& depth = table_of(tables, "qk_depth");
  EXPECT_NEAR(number_at(depth, where, "value"), 1, 0.05);
  EXPECT_GT(number_at(depth, where, "value_lower"), 0.9);
  EXPECT_LT(number_at(depth, where, "value_upper"), 1.1);
  where["statistic"] = "fraction due to angle of the deep third";
  EXPECT_NEAR(number_at(depth, where, "value"), 1, 0.03);
}

TEST(PlantedQk, AShorterKeyAtABetterAngleHasANegativeScaleTerm) {
  // The published layer 28: norm 0.65, angle does everything and more.
  const auto tables = plant_qk({{0.65, 0.9}}, 20, 13).analyze("qk");
  const Table& layers = table_of(tables, "qk_by_layer");
  // scale -0.35 * 0.6 = -0.21, direction 0.6 * 0.825 = 0.495 of 0.285.
  EXPECT_NEAR(number_at(layers, at_layer(0), "fraction_scale"), -0.21 / 0.285, 0.06);
  EXPECT_NEAR(number_at(layers, at_layer(0), "fraction_angle"), 0.495 / 0.285, 0.06);
  EXPECT_LT(number_at(layers, at_layer(0), "scale_upper"), 0);
  EXPECT_EQ(number_at(layers, at_layer(0), "rank_norm"), 1);
}

TEST(PlantedQk, KeysLikeTheOthersHaveNoAdvantage) {
  // 40 null layers of 24 samples. A 95% interval misses in 5% of cases; more than 6 of 40 would come by
  // chance in 0.3% of seeds.
  const auto tables = plant_qk(std::vector<PlantedKey>(40), 24, 14).analyze("qk");
  const Table& layers = table_of(tables, "qk_by_layer");
  int alarms = 0;
  for (int layer = 0; layer < 40; ++layer) {
    const double lower = number_at(layers, at_layer(layer), "advantage_lower");
    const double upper = number_at(layers, at_layer(layer), "advantage_upper");
    alarms += lower > 0 || upper < 0;
    EXPECT_NEAR(number_at(layers, at_layer(layer), "advantage"), 0, 0.06);
  }
  EXPECT_LE(alarms, 6);
}

}  // namespace
}  // namespace buoy::testing

#include <gtest/gtest.h>

#include <cmath>

#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

struct Anchor {
  Interval share;
  double p = 0.001, layout = 0;
  std::int64_t distinct = 20;
};
constexpr Anchor kFollows{{0.4, 0.2, 0.6}}, kWeak{{0.1, 0.05, 0.2}}, kAbsent{{0, -0.02, 0.04}, 0.8},
    kFixed{{NAN, NAN, NAN}, NAN, 0, 1}, kUnknown{{NAN, NAN, NAN}, NAN, NAN, 0};

struct Layer {
  Anchor place, type;
};

struct Model {
  std::string name = "diffusion";
  std::int64_t fewest = 12;
  std::vector<std::string> sets = {"all", "alike"};
};

Table tasks(const std::vector<Layer>& layers, const Model& model = {}) {
  Table out = table("tasks_by_layer", {"model", "kind", "set", "layer", "quantity", "value", "lower", "upper",
                                       "p_holm", "layout", "distinct", "tasks", "samples", "fewest"});
  const std::string kind = model.name == "causal" ? "autoregressive" : "masked diffusion";
  for (const auto& set : model.sets) {
    for (size_t l = 0; l < layers.size(); ++l) {
      const auto add = [&](const std::string& quantity, const Anchor& a) {
        add_cells(out, {model.name, kind, set, static_cast<std::int64_t>(l), quantity,
                        number_cell(a.share.value), number_cell(a.share.lower), number_cell(a.share.upper),
                        number_cell(a.p), number_cell(a.layout), a.distinct > 0 ? Cell(a.distinct) : Cell(),
                        std::int64_t{3}, 3 * model.fewest, model.fewest});
      };
      add("relative_position", layers[l].place);
      add("position", kFollows);
      add("token_type", layers[l].type);
    }
  }
  return out;
}

Table both(Table one, const Table& other) {
  for (const auto& row : other.rows) add_cells(one, row);
  return one;
}

ClaimVerdict judged(const std::vector<Table>& tables) {
  return claim_of("C3", tables, {kDiffusion, kCausal});
}

TEST(TaskClaim, IsSupportedWhenPlaceOrTypeFollowsTheTaskInMostLayers) {
  const auto claim = judged({tasks({{kFollows, kAbsent}, {kAbsent, kFollows}, {kFixed, kFixed}})});
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  ASSERT_EQ(claim.by_trace.size(), 1u);
  EXPECT_EQ(claim.by_trace[0].trace, "diffusion");
  EXPECT_TRUE(says(claim.evidence, "all tasks (3 tasks, 36 samples)")) << claim.evidence;
  EXPECT_TRUE(says(claim.evidence, "0 to 0.4")) << claim.evidence;
  EXPECT_TRUE(says(claim.evidence, "2 of 3 layers as claimed (1 by place, 1 by type), 1 against"))
      << claim.evidence;
  EXPECT_EQ(claim.needs, "");
  for (const char* threshold : {"0.14", "0.3", "0.05", "0.06", "0.2"})
    EXPECT_TRUE(says(claim.test, threshold)) << threshold;
}

TEST(TaskClaim, IsContradictedWhenNeitherDoesInMostLayers) {
  EXPECT_EQ(judged({tasks({{kAbsent, kAbsent}, {kAbsent, kFixed}, {kFollows, kAbsent}})}).verdict,
            Verdict::kContradicted);
}

TEST(TaskClaim, IsContradictedWhenAllAnchorsStandAtTheSamePlace) {
  const auto claim = judged({tasks({{kFixed, kFixed}, {kFixed, kFixed}})});
  EXPECT_EQ(claim.verdict, Verdict::kContradicted);
  EXPECT_TRUE(says(claim.evidence, "the same in all samples")) << claim.evidence;
}

TEST(TaskClaim, IsNotDecidedBetweenTheThresholds) {
  EXPECT_EQ(judged({tasks({{kWeak, kWeak}, {kWeak, kAbsent}})}).verdict, Verdict::kUndecided);
}

TEST(TaskClaim, ALargeShareWithoutALowPValueIsNotEnough) {
  Anchor chance = kFollows;
  chance.p = 0.06;
  EXPECT_EQ(judged({tasks({{chance, kAbsent}, {chance, kAbsent}})}).verdict, Verdict::kUndecided);
}

TEST(TaskClaim, WhatThePromptsGiveWithoutAModelIsNotEnough) {
  Anchor prompts = kFollows;
  prompts.layout = 0.45;
  EXPECT_EQ(judged({tasks({{kAbsent, prompts}, {kAbsent, prompts}})}).verdict, Verdict::kUndecided);
}

TEST(TaskClaim, WithoutTypesThePlaceDecides) {
  EXPECT_EQ(judged({tasks({{kFollows, kUnknown}})}).verdict, Verdict::kSupported);
  const auto claim = judged({tasks({{kAbsent, kUnknown}})});
  EXPECT_EQ(claim.verdict, Verdict::kContradicted);
  EXPECT_TRUE(says(claim.evidence, "Cramer's V not defined")) << claim.evidence;
}

TEST(TaskClaim, FewSamplesInOneTaskDecideNothing) {
  const auto claim = judged({tasks({{kFollows, kFollows}}, {.fewest = 9})});
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(claim.evidence, "9 samples are too few")) << claim.evidence;
}

TEST(TaskClaim, AnAutoregressiveModelStandsBesideAndDoesNotVote) {
  const Model causal{.name = "causal"};
  const auto claim = judged({both(tasks({{kFollows, kFollows}}), tasks({{kAbsent, kAbsent}}, causal))});
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_TRUE(says(claim.evidence, "Beside it, causal: all tasks")) << claim.evidence;
  EXPECT_EQ(judged({tasks({{kFollows, kFollows}}, causal)}).verdict, Verdict::kNotTestable);
}

TEST(TaskClaim, WhatOnlyPromptsOfOtherLengthsShowIsNotEnough) {
  const Model all{.sets = {"all"}}, alike{.sets = {"alike"}};
  const auto follows = tasks({{kFollows, kFollows}}, all);
  EXPECT_EQ(judged({both(follows, tasks({{kAbsent, kAbsent}}, alike))}).verdict, Verdict::kMixed);
  EXPECT_EQ(judged({both(follows, tasks({{kWeak, kAbsent}}, alike))}).verdict, Verdict::kUndecided);
  const auto alone = judged({follows});
  EXPECT_EQ(alone.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(alone.needs, "like lengths")) << alone.needs;
}

TEST(TaskClaim, SaysHowToGetThreeTasks) {
  const auto claim = judged({tasks({})});
  EXPECT_EQ(claim.verdict, Verdict::kNotTestable);
  for (const char* part : {"three tasks", "buoy trace", "`observe` received", "buoy report", "`tasks`"})
    EXPECT_TRUE(says(claim.needs, part)) << claim.needs;
}

}  // namespace
}  // namespace buoy::claims

// Claims about what is attended to: C6 and C8.
#include <gtest/gtest.h>

#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

constexpr Interval kTwice{2, 1.8, 2.2}, kHalf{0.5, 0.4, 0.6}, kAroundOne{1, 0.7, 1.3};

ClaimVerdict judged(const std::string& id, const std::vector<Table>& tables,
                    const std::vector<TraceKind>& traces = {kDiffusion, kCausal}) {
  return claim_of(id, tables, traces);
}

// C6: structure, retrieval and gold over depth.
std::vector<Table> content(const Interval& structural, const Interval& pearson, const Interval& gold,
                           const std::string& rule = "three_sigma") {
  Table structure = table("structure_depth", {"trace", "quantity", "class", "queries", "rule", "view",
                                              "depth", "value", "lower", "upper", "samples"});
  const auto add = [&](const std::string& quantity, const std::string& token_class, const Interval& i) {
    const bool floating = quantity == "floating_share";
    add_cells(structure, {"diffusion", quantity, token_class, floating ? "" : "all", floating ? rule : "",
                          floating ? "per_head" : "", "slope", i.value, i.lower, i.upper, kSamples});
  };
  add("floating_share", "structural", structural);
  add("lift", "structural", structural);
  add("lift", "gold", gold);
  Table retrieval =
      table("retrieval_summary", {"trace", "variant", "statistic", "value", "value_lower", "value_upper"});
  for (const std::string variant : {"strict_set", "mass"}) {
    add_cells(retrieval, {"diffusion", variant, "pearson of layer and layer mean", pearson.value,
                          pearson.lower, pearson.upper});
  }
  return {structure, retrieval};
}

TEST(ContentClaim, IsSupportedWhenAllThreePartsHold) {
  const auto claim = judged("C6", content(kBelow, kAbove, kAbove));
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_TRUE(says(claim.evidence, "(b) retrieval rises supported")) << claim.evidence;
}

TEST(ContentClaim, IsJudgedOnTheSetsOfAnotherEpsilonAndSaysSo) {
  const auto claim = judged("C6", content(kBelow, kAbove, kAbove, "2.5_sigma"));
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_TRUE(says(claim.evidence, "share of floating tokens by 2.5_sigma -0.5 [-0.7, -0.3] (as claimed)"))
      << claim.evidence;
}

TEST(ContentClaim, APearsonWithoutSpreadIsOneNetworksChoiceAndNoCertainty) {
  const auto claim = judged("C6", content(kBelow, {0.6, 0.6, 0.6}, kAbove));
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(claim.evidence, "what one network's training chose, n = 1, no certainty"))
      << claim.evidence;
  EXPECT_EQ(judged("C6", content(kBelow, {0.6, 0.58, 0.62}, kAbove)).verdict, Verdict::kSupported);
}

TEST(ContentClaim, IsContradictedWhenNoneDoes) {
  EXPECT_EQ(judged("C6", content(kAbove, kBelow, kBelow)).verdict, Verdict::kContradicted);
}

TEST(ContentClaim, IsMixedWhenPartsDisagreeAndOpenWhenOneIs) {
  EXPECT_EQ(judged("C6", content(kBelow, kAbove, kBelow)).verdict, Verdict::kMixed);
  EXPECT_EQ(judged("C6", content(kBelow, kAround, kAbove)).verdict, Verdict::kUndecided);
}

TEST(ContentClaim, NeedsEveryPartUnlessThoseThereDisagree) {
  auto tables = content(kBelow, kAbove, kAbove);
  tables.pop_back();
  const auto claim = judged("C6", tables);
  EXPECT_EQ(claim.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(claim.needs, "retrieval_summary")) << claim.needs;
  EXPECT_TRUE(says(claim.needs, "`observe` top,row-mass")) << claim.needs;

  tables = content(kBelow, kAbove, kBelow);
  tables.pop_back();
  EXPECT_EQ(judged("C6", tables).verdict, Verdict::kMixed);
}

TEST(ContentClaim, CountsTheSamplesThatWereScored) {
  auto tables = content(kBelow, kAbove, kAbove);
  tables.push_back(table("retrieval_tests", {"trace", "what", "value"}));
  add_cells(tables.back(), {"diffusion", "tests (samples scored)", std::int64_t{3}});
  const auto claim = judged("C6", tables);
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(claim.evidence, "3 samples are too few")) << claim.evidence;
}

// C8: six layers, of which the last two are the deep third.
struct Flow {
  Interval shallow = kAroundOne, deep = kTwice, last_position = kTwice, first_token = kTwice;
  std::int64_t positions = 3, samples = kSamples;
};

std::vector<Table> flow(const Flow& f) {
  Table gold =
      table("flow_gold_by_layer", {"trace", "gold_position", "layer", "samples", "gold_over_distractors",
                                   "gold_over_distractors_lower", "gold_over_distractors_upper"});
  for (std::int64_t position = 0; position <= f.positions; ++position) {
    const Cell name = position == 0 ? Cell{std::string("all")} : Cell{position};
    for (std::int64_t layer = 0; layer < 6; ++layer) {
      const Interval deep = position == f.positions ? f.last_position : f.deep;
      const Interval i = layer < 4 ? f.shallow : deep;
      add_cells(gold, {"diffusion", name, layer, f.samples, i.value, i.lower, i.upper});
    }
  }
  Table regions = table("flow_by_layer", {"trace", "queries", "steps", "layer", "region", "samples", "lift",
                                          "lift_lower", "lift_upper"});
  for (std::int64_t layer = 0; layer < 6; ++layer) {
    const Interval i = layer < 4 ? f.shallow : f.first_token;
    add_cells(regions, {"causal", "answer", "mean", layer, "bos", kSamples, i.value, i.lower, i.upper});
  }
  return {gold, regions};
}

TEST(FlowClaim, IsSupportedWhenGoldWinsEverywhereAndTheFirstTokenInTheOtherModel) {
  EXPECT_EQ(judged("C8", flow({})).verdict, Verdict::kSupported);
}

TEST(FlowClaim, IsContradictedWhenNeitherDoes) {
  EXPECT_EQ(judged("C8", flow({.deep = kHalf, .last_position = kHalf, .first_token = kHalf})).verdict,
            Verdict::kContradicted);
}

TEST(FlowClaim, IsMixedWhenGoldLosesAtOnePosition) {
  const auto claim = judged("C8", flow({.last_position = kHalf}));
  EXPECT_EQ(claim.verdict, Verdict::kMixed);
  EXPECT_EQ(claim.by_trace[0].verdict, Verdict::kMixed);
  EXPECT_EQ(claim.by_trace[1].verdict, Verdict::kSupported);
}

TEST(FlowClaim, IsNotDecidedWhenTheFirstTokenIsNot) {
  EXPECT_EQ(judged("C8", flow({.first_token = kAroundOne})).verdict, Verdict::kUndecided);
}

TEST(FlowClaim, IsNotDecidedWhenPositionsHaveFewSamples) {
  const auto claim = judged("C8", flow({.samples = 4}));
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(claim.evidence, "4 samples are too few")) << claim.evidence;
}

TEST(FlowClaim, NeedsGoldAtSeveralPositions) {
  const auto claim = judged("C8", flow({.positions = 1}));
  EXPECT_EQ(claim.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(claim.needs, "3 positions")) << claim.needs;
}

TEST(FlowClaim, NeedsBothKindsOfTracesAndTheirTables) {
  EXPECT_TRUE(says(judged("C8", flow({}), {kDiffusion}).needs, "autoregressive"));
  EXPECT_EQ(judged("C8", flow({}), {kDiffusion}).verdict, Verdict::kNotTestable);
  const auto claim = judged("C8", {});
  EXPECT_EQ(claim.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(claim.needs, "`observe` mass")) << claim.needs;
}

}  // namespace
}  // namespace buoy::claims

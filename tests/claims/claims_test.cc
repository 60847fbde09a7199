#include "buoy/claims/claims.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

constexpr Interval kTightAtZero{0, -0.0005, 0.0005};

ClaimVerdict judged(const std::string& id, const std::vector<Table>& tables,
                    const std::vector<TraceKind>& traces = {kDiffusion}) {
  return claim_of(id, tables, traces);
}

// C1: what the anchor does over steps.
struct Drift {
  Interval step = kAbove, given_frontier = kAbove, still = {0.1, 0, 0.2}, layer = kAbove;
  std::string trace = "diffusion";
  std::int64_t samples = kSamples;
  bool has_step = true, has_given = true;
};

std::vector<Table> drift(const Drift& d) {
  Table summary =
      table("drift_summary",
            {"trace", "view", "positions", "scalar", "depth", "value", "lower", "upper", "samples"}, {});
  const auto add = [&](const std::string& scalar, const Interval& i, bool defined = true) {
    const Cell none;
    add_cells(summary,
              {d.trace, "head_mean", "all", scalar, "all layers", defined ? Cell{i.value} : none,
               defined ? Cell{i.lower} : none, defined ? Cell{i.upper} : none, defined ? d.samples : 0});
  };
  add("static", d.still);
  add("spearman_step", d.step, d.has_step);
  add("spearman_step_given_frontier", d.given_frontier, d.has_given);
  Table layers =
      table("drift_by_layer",
            {"trace", "layer", "view", "positions", "scalar", "value", "lower", "upper", "samples"}, {});
  for (std::int64_t l = 0; l < 4; ++l) {
    const Cell value = d.has_step ? Cell{d.layer.value} : Cell{};
    add_cells(layers, {d.trace, l, "head_mean", "all", "spearman_step", value, d.layer.lower, d.layer.upper,
                       d.samples});
  }
  return {summary, layers,
          table("drift_order", {"trace", "scalar", "value", "lower", "upper", "samples"},
                {{d.trace, "reveal_order", 0.1, -0.1, 0.3, d.samples}})};
}

TEST(DriftClaim, IsSupportedWhenAnchorsGoRightAlsoGivenTheFrontier) {
  const auto claim = judged("C1", drift({}));
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_TRUE(says(claim.evidence, "0.5 [0.3, 0.7]")) << claim.evidence;
  EXPECT_TRUE(says(claim.evidence, "4 of 4 layers")) << claim.evidence;
  EXPECT_TRUE(says(claim.evidence, "reveal order 0.1")) << claim.evidence;
  EXPECT_EQ(claim.needs, "");
}

TEST(DriftClaim, IsContradictedWhenAnchorsGoLeft) {
  EXPECT_EQ(judged("C1", drift({.step = kBelow, .given_frontier = kAround, .layer = kBelow})).verdict,
            Verdict::kContradicted);
}

TEST(DriftClaim, ShowsNoDifferenceWhenTheCorrelationIsTightAroundNothing) {
  const auto claim =
      judged("C1", drift({.step = kTightAtZero, .given_frontier = kTightAtZero, .layer = kTightAtZero}));
  EXPECT_EQ(claim.verdict, Verdict::kNoDifference) << "that anchors move supports nothing by itself";
  EXPECT_TRUE(says(claim.evidence, "no difference beyond the margin: within 0.1 of 0")) << claim.evidence;
  EXPECT_TRUE(says(claim.evidence, "4 as good as equal")) << claim.evidence;
}

TEST(DriftClaim, SaysHowManyPartsAreAgainstWhenItIsNotDecided) {
  const auto claim = judged(
      "C1", drift({.step = kAround, .given_frontier = kBelow, .still = {0.8, 0.7, 0.85}, .layer = kAround}));
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_EQ(claim.parts, "2 against, 2 open");
  EXPECT_TRUE(says(claim.evidence, "not decided (2 against, 2 open)")) << claim.evidence;
}

TEST(DriftClaim, IsContradictedWhenNoAnchorMovesThoughNoCorrelationExistsThen) {
  const auto claim = judged("C1", drift({.still = {1, 1, 1}, .has_step = false, .has_given = false}));
  EXPECT_EQ(claim.verdict, Verdict::kContradicted);
  EXPECT_TRUE(says(claim.evidence, "stay put")) << claim.evidence;
}

TEST(DriftClaim, IsNotDecidedWhenTheIntervalHoldsZero) {
  const auto claim = judged("C1", drift({.step = kAround}));
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(claim.evidence, "not decided by this data")) << claim.evidence;
}

TEST(DriftClaim, IsMixedWhenMostAnchorsStayPut) {
  EXPECT_EQ(judged("C1", drift({.still = {0.8, 0.7, 0.85}})).verdict, Verdict::kMixed);
}

TEST(DriftClaim, IsMixedWhenTheMotionIsThatOfTheFrontier) {
  EXPECT_EQ(judged("C1", drift({.given_frontier = kTightAtZero})).verdict, Verdict::kMixed);
}

TEST(DriftClaim, NeedsAnotherOrderWhenStepAndFrontierAreTheSame) {
  const auto claim = judged("C1", drift({.has_given = false}));
  EXPECT_EQ(claim.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(claim.needs, "random order")) << claim.needs;
}

TEST(DriftClaim, NeedsADiffusionTrace) {
  const auto claim = judged("C1", drift({.trace = "causal"}), {kCausal});
  EXPECT_EQ(claim.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(claim.needs, "masked-diffusion")) << claim.needs;
}

// C2: over depth.
Table depth(const Interval& set_size, const Interval& entropy, const Interval& top_share,
            const std::vector<std::string>& traces = {"diffusion"},
            const std::string& set_rule = "three_sigma") {
  Table out = table("floating_depth",
                    {"trace", "quantity", "rule", "view", "depth", "value", "lower", "upper", "samples"}, {});
  for (const auto& trace : traces) {
    for (const std::string view : {"per_head", "head_mean"}) {
      const auto add = [&](const std::string& quantity, const std::string& rule, const Interval& i) {
        add_cells(out, {trace, quantity, rule, view, "slope", i.value, i.lower, i.upper, kSamples});
      };
      add("set_size", set_rule, set_size);
      add("entropy", "", entropy);
      add("top_share", "", top_share);
    }
  }
  return out;
}

TEST(DepthClaim, IsSupportedWhenSetsAndEntropyFallAndTheLargestShareRises) {
  EXPECT_EQ(judged("C2", {depth(kBelow, kBelow, kAbove)}).verdict, Verdict::kSupported);
}

TEST(DepthClaim, IsJudgedOnTheSetsOfAnotherEpsilonAndSaysSo) {
  const auto claim = judged("C2", {depth(kBelow, kBelow, kAbove, {"diffusion"}, "2_sigma")});
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_TRUE(says(claim.evidence, "slope of set_size by 2_sigma, per_head")) << claim.evidence;
  EXPECT_FALSE(says(judged("C2", {depth(kBelow, kBelow, kAbove)}).evidence, "sigma"));
}

TEST(DepthClaim, CallsASlopeASlopeAndNotADifferenceOfTwoLayers) {
  for (const char* id : {"C2", "C5"}) {
    const auto claim = judged(id, {});
    EXPECT_FALSE(says(claim.test, "first to the last layer")) << claim.test;
    EXPECT_TRUE(says(claim.test, "straight lines fitted through the layers")) << claim.test;
  }
}

TEST(DepthClaim, IsContradictedWhenAllGoTheOtherWayOrAreAbsent) {
  EXPECT_EQ(judged("C2", {depth(kAbove, kTightAtZero, kBelow)}).verdict, Verdict::kContradicted);
}

TEST(DepthClaim, IsMixedWhenTheMeasuresDisagreeAndOpenWhenOneIs) {
  EXPECT_EQ(judged("C2", {depth(kBelow, kAbove, kAbove)}).verdict, Verdict::kMixed);
  EXPECT_EQ(judged("C2", {depth(kBelow, kAround, kAbove)}).verdict, Verdict::kUndecided);
}

TEST(DepthClaim, SaysWhichTableIsLackingAndHowToGetIt) {
  const auto claim = judged("C2", {});
  EXPECT_EQ(claim.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(claim.needs, "table floating_depth")) << claim.needs;
  EXPECT_TRUE(says(claim.needs, "`observe` received")) << claim.needs;
}

TEST(DepthClaim, SaysWhichColumnIsLacking) {
  Table old = depth(kBelow, kBelow, kAbove);
  old.columns[6].name = "low";
  const auto claim = judged("C2", {old});
  EXPECT_EQ(claim.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(claim.needs, "column lower of table floating_depth")) << claim.needs;
}

TEST(DepthClaim, IsMixedWhenTracesDisagreeAndKeepsTheVerdictOfEach) {
  Table both = depth(kBelow, kBelow, kAbove);
  for (auto& row : depth(kAbove, kAbove, kBelow, {"second"}).rows) add_cells(both, row);
  const auto claim = judged("C2", {both}, {kDiffusion, {"second", true, kSamples}});
  EXPECT_EQ(claim.verdict, Verdict::kMixed);
  ASSERT_EQ(claim.by_trace.size(), 2u);
  EXPECT_EQ(claim.by_trace[0].verdict, Verdict::kSupported);
  EXPECT_EQ(claim.by_trace[1].verdict, Verdict::kContradicted);
}

TEST(DepthClaim, IsNotDecidedWhenOneTraceDecidesNothing) {
  Table both = depth(kBelow, kBelow, kAbove);
  for (auto& row : depth(kAround, kAround, kAround, {"second"}).rows) add_cells(both, row);
  const auto claim = judged("C2", {both}, {kDiffusion, {"second", true, kSamples}});
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_EQ(claim.by_trace[0].verdict, Verdict::kSupported);
  EXPECT_EQ(claim.by_trace[1].verdict, Verdict::kUndecided);
}

TEST(DepthClaim, ATraceWithoutTheTableDoesNotVote) {
  const auto claim =
      judged("C2", {depth(kBelow, kBelow, kAbove)}, {kDiffusion, {"second", true, kSamples}, kCausal});
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_TRUE(says(claim.needs, "second")) << claim.needs;
}

TEST(Margins, WorkBothWays) {
  // Off zero on either side, and within 0.1 positions, 0.02 nats, 0.001 of attention of it.
  const Interval up{0.0005, 0.0002, 0.0008}, down{-0.0005, -0.0008, -0.0002};
  for (const auto& sides : {depth(down, down, up), depth(up, up, down)}) {
    const auto claim = judged("C2", {sides});
    EXPECT_EQ(claim.verdict, Verdict::kNoDifference);
    EXPECT_EQ(claim.parts, "6 as good as equal");
  }
  // Beyond zero, not beyond the margin.
  const Interval across{-0.1, -0.19, -0.01};
  EXPECT_EQ(judged("C2", {depth(across, kBelow, kAbove)}).verdict, Verdict::kUndecided);
}

// From the value to the margin it is 0.4. Half of the interval is 0.32: by itself that is enough; widened for
// six quantities (2.64 / 1.96) it is 0.43, for two (2.24 / 1.96) 0.37.
TEST(SeveralQuantities, AreCorrectedTogetherStepByStep) {
  const Interval by_itself{-0.5, -0.82, -0.18};
  const auto open = judged("C2", {depth(by_itself, kAround, kAround)});
  EXPECT_EQ(open.parts, "6 open");
  EXPECT_TRUE(says(open.evidence, "as claimed by itself, open when corrected")) << open.evidence;
  EXPECT_EQ(judged("C2", {depth(by_itself, kBelow, kAbove)}).parts, "6 for") << "four are sure, two are left";
  const Interval half_of_0_37{-0.5, -0.87, -0.13};
  EXPECT_EQ(judged("C2", {depth(half_of_0_37, kBelow, kAbove)}).parts, "4 for, 2 open");
}

TEST(KindsOfModels, NeedSeveralNetworksWhateverTheseModelsSay) {
  const auto claim = judged("C2", {depth(kBelow, kBelow, kAbove)});
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_FALSE(claim.kinds.enough);
  EXPECT_EQ(claim.kinds.words, "too few networks (1 per arm; from 5 on)");
  EXPECT_EQ(judged("C4", {}, {kDiffusion, kCausal}).kinds.words, "too few networks (1 per arm; from 5 on)");
  EXPECT_EQ(judged("C4", {}, {kDiffusion, kCausal, {"other", true, kSamples}}).kinds.words,
            "too few networks (2 masked-diffusion, 1 autoregressive; from 5 on)");
}

TEST(KindsOfModels, CountNetworksAndNotTraces) {
  std::vector<std::string> names;
  std::vector<TraceKind> same, several;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    names.emplace_back(name);
    same.push_back({name, true, kSamples, "one network"});
    several.push_back({name, true, kSamples});
  }
  const Table five = depth(kBelow, kBelow, kAbove, names);
  EXPECT_EQ(judged("C2", {five}, same).kinds.words, "too few networks (1 per arm; from 5 on)");
  const auto enough = judged("C2", {five}, several).kinds;
  EXPECT_TRUE(enough.enough);
  EXPECT_EQ(enough.words, "supported (5 per arm; 6 for)");
  ASSERT_EQ(enough.quantities.size(), 6u);
  EXPECT_EQ(enough.quantities[0].name, "slope of set_size: per_head");
  EXPECT_EQ(enough.quantities[0].diffusion, 5u);
}

// A table of siblings may come from a study that has no masked-diffusion model.
TEST(AutoregressiveNetworksAlone, HaveTheirNumbersAndNoVerdict) {
  const auto claim = judged("C2", {depth(kBelow, kBelow, kAbove, {"causal"})}, {kCausal});
  EXPECT_EQ(claim.verdict, Verdict::kNotTestable);
  EXPECT_EQ(claim.needs, "a trace of a masked-diffusion model");
  EXPECT_TRUE(claim.by_trace.empty());
  ASSERT_EQ(claim.quantities.size(), 6u);
  EXPECT_FALSE(claim.quantities[0].network.masked_diffusion);
  EXPECT_EQ(claim.quantities[0].estimate.value, kBelow.value);
}

TEST(FewSamples, AreNeverEnoughForAVerdict) {
  const TraceKind few{"diffusion", true, kFewestSamples - 1};
  for (const auto& claim :
       {judged("C2", {depth(kBelow, kBelow, kAbove)}, {few}),
        judged("C2", {depth(kAbove, kAbove, kBelow)}, {few}), judged("C1", drift({}), {few})}) {
    EXPECT_EQ(claim.verdict, Verdict::kUndecided);
    EXPECT_TRUE(says(claim.evidence, "9 samples are too few")) << claim.evidence;
  }
}

TEST(FewSamples, AreCountedWhereANumberRestsOnFewerThanTheTraceHas) {
  const auto claim = judged("C1", drift({.samples = 4}));
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(claim.evidence, "4 samples are too few")) << claim.evidence;
}

TEST(MissingValues, AreNotZero) {
  Table t = depth(kBelow, kBelow, kAbove);
  for (auto& row : t.rows) row[5] = row[6] = row[7] = Cell{};
  EXPECT_EQ(judged("C2", {t}).verdict, Verdict::kNotTestable);
}

TEST(MissingValues, WithoutAnIntervalNothingIsDecided) {
  Table t = depth(kBelow, kBelow, kAbove);
  for (auto& row : t.rows) row[6] = row[7] = Cell{};
  const auto claim = judged("C2", {t});
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(claim.evidence, "no interval")) << claim.evidence;
}

TEST(OtherClaims, AreNotTestableFromTracesAndSayWhatIs) {
  for (const std::string id : {"C3", "C7", "C9", "C10"}) {
    const auto claim = judged(id, {}, {kDiffusion, kCausal});
    EXPECT_EQ(claim.verdict, Verdict::kNotTestable) << id;
    EXPECT_NE(claim.needs, "") << id;
  }
  EXPECT_TRUE(says(judged("C3", {}).needs, "three tasks"));
  EXPECT_TRUE(says(judged("C7", {}).needs, "buoy eval"));
}

TEST(Claims, AreTenInOrderAndWithoutTablesNoneIsDecided) {
  const auto claims = judge_claims({}, {});
  ASSERT_EQ(claims.size(), 10u);
  for (size_t i = 0; i < claims.size(); ++i) {
    EXPECT_EQ(claims[i].id, "C" + std::to_string(i + 1));
    EXPECT_EQ(claims[i].verdict, Verdict::kNotTestable);
    EXPECT_NE(claims[i].claim, "");
    EXPECT_NE(claims[i].test, "");
    EXPECT_NE(claims[i].needs, "") << claims[i].id;
  }
}

TEST(ClaimsTable, HasARowForEachClaimAndForEachTraceOfIt) {
  const std::vector<TraceKind> traces = {kDiffusion};
  const std::vector<Table> tables = {depth(kBelow, kBelow, kAbove)};
  const Table out = claims_table(judge_claims(tables, traces));
  const auto has = [&](const std::string& id, const std::string& trace, Verdict verdict) {
    return std::any_of(out.rows.begin(), out.rows.end(), [&](const std::vector<Cell>& row) {
      return text_of(row[0]) == id && text_of(row[1]) == trace && text_of(row[2]) == name_of(verdict);
    });
  };
  EXPECT_TRUE(has("C2", "overall", Verdict::kSupported));
  EXPECT_TRUE(has("C2", "diffusion", Verdict::kSupported));
  EXPECT_TRUE(has("C10", "overall", Verdict::kNotTestable));
}

}  // namespace
}  // namespace buoy::claims

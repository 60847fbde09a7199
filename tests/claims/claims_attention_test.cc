// C4 and C5. (C1 and C2 are tried in claims_test.cc: what holds for all claims is tried on their tables.)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

ClaimVerdict judged(const std::string& id, const std::vector<Table>& tables,
                    const std::vector<TraceKind>& traces = {kDiffusion, kCausal}) {
  return claim_of(id, tables, traces);
}

// C4: excess shares, and their differences: autoregressive minus diffusion.
constexpr Interval kStrong{0.3, 0.25, 0.35}, kHigher{0.2, 0.15, 0.25}, kLower{-0.2, -0.25, -0.15},
    kNone{0.0005, -0.001, 0.002};

struct Absorption {
  Interval sink = kStrong, first = kHigher, largest = kHigher;
  std::string queries = "answer";
  bool turned = false;  // the diffusion trace is listed first
};

std::vector<Table> absorption(const Absorption& a) {
  Table sinks = table("absorption_excess", {"trace", "steps", "view", "queries", "selector", "depth",
                                            "excess", "lower", "upper", "samples"});
  add_cells(sinks, {"causal", "final", "per_head", a.queries, "position_0", "all layers", a.sink.value,
                    a.sink.lower, a.sink.upper, kSamples});
  Table pairs = table("absorption_pairs", {"trace", "other", "steps", "view", "queries", "selector",
                                           "difference", "lower", "upper", "samples"});
  const auto add = [&](const std::string& selector, const Interval& i) {
    if (a.turned) {
      add_cells(pairs, {"diffusion", "causal", "final", "per_head", a.queries, selector, -i.value, -i.upper,
                        -i.lower, kSamples});
    } else {
      add_cells(pairs, {"causal", "diffusion", "final", "per_head", a.queries, selector, i.value, i.lower,
                        i.upper, kSamples});
    }
  };
  add("position_0", a.first);
  add("top_1", a.largest);
  return {sinks, pairs};
}

TEST(AbsorptionClaim, IsSupportedWhenTheAutoregressiveSinkIsStronger) {
  const auto claim = judged("C4", absorption({}));
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_TRUE(says(claim.evidence, "causal against diffusion")) << claim.evidence;
}

TEST(AbsorptionClaim, DoesNotDependOnTheOrderOfTraces) {
  for (const auto& difference : {kHigher, kLower, kNone}) {
    const auto one = judged("C4", absorption({.first = difference, .largest = difference}));
    const auto other = judged("C4", absorption({.first = difference, .largest = difference, .turned = true}));
    EXPECT_EQ(one.verdict, other.verdict);
    EXPECT_EQ(one.evidence, other.evidence);
  }
}

TEST(AbsorptionClaim, IsContradictedWhenTheDiffusionSinkIsStrongerThoughThereIsASink) {
  EXPECT_EQ(judged("C4", absorption({.first = kLower, .largest = kLower})).verdict, Verdict::kContradicted);
}

TEST(AbsorptionClaim, IsNotDecidedWhenADifferenceIsNotAndMixedWhenSelectorsDisagree) {
  EXPECT_EQ(judged("C4", absorption({.first = {0.1, -0.1, 0.3}})).verdict, Verdict::kUndecided);
  EXPECT_EQ(judged("C4", absorption({.largest = kLower})).verdict, Verdict::kMixed);
}

TEST(AbsorptionClaim, IsMixedWhenThereIsNoSinkThoughTheDifferencesAreAsClaimed) {
  const auto claim = judged("C4", absorption({.sink = kNone}));
  EXPECT_EQ(claim.verdict, Verdict::kMixed);
  EXPECT_TRUE(says(claim.evidence,
                   fmt::format("no difference beyond the margin: within {:g} of 0", rules::kSink.margin)))
      << claim.evidence;
}

TEST(AbsorptionClaim, TakesAllQueriesWhereThoseOfTheAnswerAreNotApartAndSaysSo) {
  const auto claim = judged("C4", absorption({.queries = "all"}));
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_TRUE(says(claim.evidence, "for lack of groups of the answer")) << claim.evidence;
}

TEST(AbsorptionClaim, NeedsBothKindsOfTraces) {
  EXPECT_TRUE(says(judged("C4", absorption({}), {kDiffusion}).needs, "autoregressive"));
  EXPECT_TRUE(says(judged("C4", absorption({}), {kCausal}).needs, "masked-diffusion"));
  EXPECT_EQ(judged("C4", absorption({}), {kCausal}).verdict, Verdict::kNotTestable);
}

TEST(AbsorptionClaim, OfFewSamplesIsNotDecided) {
  const auto claim = judged("C4", absorption({}), {kDiffusion, {"causal", false, 5}});
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(claim.evidence, "5 samples are too few")) << claim.evidence;
  EXPECT_EQ(judged("C4", absorption({}), {{"diffusion", true, 5}, kCausal}).verdict, Verdict::kUndecided);
}

TEST(AbsorptionClaim, ExcessSharesThatDifferByLessThanTheMarginAreAsGoodAsEqual) {
  const auto claim = judged("C4", absorption({.first = kNone, .largest = kNone}));
  EXPECT_EQ(claim.verdict, Verdict::kMixed) << "there is a sink, and it is not the stronger one";
  EXPECT_EQ(claim.by_trace[0].parts, "1 for, 2 as good as equal");
}

// C5: why floating columns win.
Table split(const Interval& angle, const Interval& scale, const std::string& set = "three_sigma_head") {
  Table out = table("qk_depth",
                    {"trace", "set", "stage", "statistic", "samples", "value", "value_lower", "value_upper"});
  const auto add = [&](const std::string& statistic, const Interval& i) {
    add_cells(out, {"diffusion", set, "after", statistic, kSamples, i.value, i.lower, i.upper});
  };
  add("slope of the fraction due to angle", angle);
  add("slope of the fraction due to scale", scale);
  return out;
}

TEST(SplitClaim, IsSupportedWhenAngleRisesAndScaleFalls) {
  EXPECT_EQ(judged("C5", {split(kAbove, kBelow)}).verdict, Verdict::kSupported);
}

TEST(SplitClaim, IsContradictedTheOtherWayRound) {
  EXPECT_EQ(judged("C5", {split(kBelow, kAbove)}).verdict, Verdict::kContradicted);
}

TEST(SplitClaim, IsJudgedOnTheColumnsOfAnotherEpsilonAndSaysSo) {
  const auto claim = judged("C5", {split(kAbove, kBelow, "2_sigma_head")});
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_TRUE(says(claim.evidence, "due to angle by 2_sigma")) << claim.evidence;
}

TEST(SplitClaim, IsNotDecidedWhenAPartIsNot) {
  EXPECT_EQ(judged("C5", {split(kAbove, kAround)}).verdict, Verdict::kUndecided);
}

TEST(SplitClaim, SaysWhatToObserve) {
  const auto claim = judged("C5", {});
  EXPECT_EQ(claim.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(claim.needs, "`observe` received,qk,norms")) << claim.needs;
}

}  // namespace
}  // namespace buoy::claims

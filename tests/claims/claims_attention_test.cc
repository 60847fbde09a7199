// C4 and C5. (C1 and C2 are tried in claims_test.cc: what holds for all claims is tried on their tables.)
#include <gtest/gtest.h>

#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

constexpr Interval kTwice{2, 1.8, 2.2}, kFive{5, 4.5, 5.5}, kTightAtOne{1, 0.97, 1.03};

ClaimVerdict judged(const std::string& id, const std::vector<Table>& tables,
                    const std::vector<TraceKind>& traces = {kDiffusion, kCausal}) {
  return claim_of(id, tables, traces);
}

// C4: lifts over floors.
struct Absorption {
  Interval causal_first = kFive, causal_largest = kFive, diffusion_first = kTwice, diffusion_largest = kTwice;
};

Table absorption(const Absorption& a) {
  Table out = table("absorption_summary", {"trace", "steps", "view", "selector", "depth", "absorbed_percent",
                                           "lower", "upper", "lift", "lift_lower", "lift_upper", "samples"});
  const auto add = [&](const std::string& trace, const std::string& selector, const Interval& i) {
    add_cells(out, {trace, "final", "per_head", selector, "all layers", 7.0, 6.0, 8.0, i.value, i.lower,
                    i.upper, kSamples});
  };
  add("causal", "position_0", a.causal_first);
  add("causal", "top_1", a.causal_largest);
  add("diffusion", "position_0", a.diffusion_first);
  add("diffusion", "top_1", a.diffusion_largest);
  return out;
}

TEST(AbsorptionClaim, IsSupportedWhenTheAutoregressiveLiftsLieAbove) {
  const auto claim = judged("C4", {absorption({})});
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  EXPECT_TRUE(says(claim.evidence, "causal against diffusion")) << claim.evidence;
}

TEST(AbsorptionClaim, IsContradictedWhenTheDiffusionLiftsLieAboveThoughThereIsASink) {
  EXPECT_EQ(judged("C4", {absorption({.causal_first = kTwice,
                                      .causal_largest = kTwice,
                                      .diffusion_first = kFive,
                                      .diffusion_largest = kFive})})
                .verdict,
            Verdict::kContradicted);
}

TEST(AbsorptionClaim, IsNotDecidedWhenIntervalsOverlapAndMixedWhenSelectorsDisagree) {
  EXPECT_EQ(judged("C4", {absorption({.diffusion_first = {4.8, 4, 5.2}})}).verdict, Verdict::kUndecided);
  EXPECT_EQ(judged("C4", {absorption({.causal_largest = kTwice, .diffusion_largest = kFive})}).verdict,
            Verdict::kMixed);
}

TEST(AbsorptionClaim, IsMixedWhenThereIsNoSinkThoughTheDiffusionLiftsLieBelow) {
  const Interval below{0.5, 0.4, 0.6};
  const auto claim = judged(
      "C4",
      {absorption({.causal_first = kTightAtOne, .diffusion_first = below, .diffusion_largest = below})});
  EXPECT_EQ(claim.verdict, Verdict::kMixed);
  EXPECT_TRUE(says(claim.evidence, "no difference beyond the margin: within 0.05 of 1")) << claim.evidence;
}

TEST(AbsorptionClaim, NeedsBothKindsOfTraces) {
  EXPECT_TRUE(says(judged("C4", {absorption({})}, {kDiffusion}).needs, "autoregressive"));
  EXPECT_TRUE(says(judged("C4", {absorption({})}, {kCausal}).needs, "masked-diffusion"));
  EXPECT_EQ(judged("C4", {absorption({})}, {kCausal}).verdict, Verdict::kNotTestable);
}

TEST(AbsorptionClaim, OfFewSamplesIsNotDecided) {
  const auto claim = judged("C4", {absorption({})}, {kDiffusion, {"causal", false, 5}});
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(claim.evidence, "5 samples are too few")) << claim.evidence;
}

TEST(AbsorptionClaim, LiftsThatDifferByLessThanTheMarginAreAsGoodAsEqual) {
  const Interval five{5, 4.995, 5.005}, like_it{5.01, 5.006, 5.014};
  const auto claim = judged("C4", {absorption({.causal_first = five,
                                               .causal_largest = five,
                                               .diffusion_first = like_it,
                                               .diffusion_largest = like_it})});
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

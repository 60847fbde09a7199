// What several numbers say together: for, against, both, or nothing yet.

#include "buoy/claims/claims_evidence.h"

#include <gtest/gtest.h>

namespace buoy::claims {
namespace {

constexpr Estimate kAbove{2, 1.5, 2.5, 100}, kBelow{0.5, 0.4, 0.6, 100}, kAround{1, 0.7, 1.3, 100};
const Expectation kExpected(QuantityRule{"lift", Side::kAbove, 1, 0.1});

Finding of(const std::vector<Estimate>& layers) {
  return judge_layers(layers, kExpected).finding;
}

TEST(Layers, AreForAClaimWhenMostAreAndNoneIsAgainst) {
  EXPECT_EQ(of({kAbove, kAbove, kAround}), Finding::kFor);
  EXPECT_EQ(of({kBelow, kBelow, kAround}), Finding::kAgainst);
}

TEST(Layers, AreSplitWhenMoreThanAnEighthAreForAndAgainst) {
  EXPECT_EQ(of({kAbove, kAbove, kAbove, kBelow}), Finding::kSplit);
  // One of eight on each side is what chance gives now and then.
  std::vector<Estimate> eight(6, kAround);
  eight.push_back(kAbove);
  eight.push_back(kBelow);
  EXPECT_EQ(of(eight), Finding::kUndecided);
  eight[0] = kAbove;
  eight[1] = kBelow;
  EXPECT_EQ(of(eight), Finding::kSplit);
}

TEST(Layers, AgainstWhichOneSpeaksAreNotForAClaim) {
  std::vector<Estimate> most(9, kAbove);
  most.push_back(kBelow);
  EXPECT_EQ(of(most), Finding::kUndecided);
}

TEST(Layers, DecideNothingWhenFewOfThemDo) {
  EXPECT_EQ(of({kAbove, kAround, kAround}), Finding::kUndecided);
  EXPECT_EQ(of({kAround}), Finding::kUndecided);
}

Verdict together(const std::vector<Finding>& findings) {
  std::vector<Part> parts;
  for (const Finding finding : findings) parts.push_back({finding, "words", {}});
  return combine(parts);
}

TEST(Parts, AreMixedOnlyWhenSomethingSpeaksForAndSomethingAgainst) {
  EXPECT_EQ(together({Finding::kFor, Finding::kAgainst}), Verdict::kMixed);
  EXPECT_EQ(together({Finding::kFor, Finding::kSplit}), Verdict::kMixed);
  EXPECT_EQ(together({Finding::kFor, Finding::kAgainst, Finding::kLacking}), Verdict::kMixed);
}

TEST(Parts, AreNotDecidedWhenOneIsOpenAndNoneDisagree) {
  EXPECT_EQ(together({Finding::kUndecided, Finding::kUndecided}), Verdict::kUndecided);
  EXPECT_EQ(together({Finding::kFor, Finding::kUndecided}), Verdict::kUndecided);
  EXPECT_EQ(together({Finding::kAgainst, Finding::kUndecided}), Verdict::kUndecided);
}

TEST(Parts, MustAllBeThere) {
  EXPECT_EQ(together({Finding::kFor, Finding::kLacking}), Verdict::kNotTestable);
  EXPECT_EQ(together({}), Verdict::kNotTestable);
}

TEST(Parts, ThatAgreeAreTheVerdict) {
  EXPECT_EQ(together({Finding::kFor, Finding::kFor}), Verdict::kSupported);
  EXPECT_EQ(together({Finding::kAgainst, Finding::kAgainst}), Verdict::kContradicted);
}

}  // namespace
}  // namespace buoy::claims

// Untrained networks hold verdicts back, and a model without right answers is judged on no drop.

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/claims/claims_evidence.h"
#include "buoy/claims/kinds.h"
#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

constexpr QuantityRule kRule{"a slope", Side::kAbove, 0, 0.1};

TEST(ControlledFinding, LiesBeyondTheMarginOfTheNullAndOfTheControl) {
  const Estimate above{0.5, 0.3, 0.7, 40}, below{-0.5, -0.7, -0.3, 40}, inside{0, -0.05, 0.05, 40};
  EXPECT_EQ(side_of_null(above, kRule), Finding::kFor);
  EXPECT_EQ(side_of_null(above, kRule, 0.1), Finding::kFor);
  EXPECT_EQ(side_of_null(above, kRule, 0.25), Finding::kUndecided) << "0.3 is not beyond 0.25 + 0.1";
  EXPECT_EQ(side_of_null(above, kRule, -0.9), Finding::kFor) << "on the other side it takes nothing back";
  EXPECT_EQ(side_of_null(below, kRule, -0.1), Finding::kAgainst);
  EXPECT_EQ(side_of_null(below, kRule, -0.4), Finding::kUndecided);
  EXPECT_EQ(side_of_null(inside, kRule, 0.4), Finding::kEqual) << "what is not there is no finding";
  EXPECT_EQ(held_back(above, kRule, 0.25),
            "as claimed, but not beyond what an untrained network shows (0.25): open");
  EXPECT_EQ(held_back(above, kRule, 0.1), "");
  EXPECT_EQ(held_back(above, kRule, NAN), "");
}

TEST(ControlledFinding, SentencesSayWhatTheControlShows) {
  const auto why = [](const Estimate& estimate, double control) {
    return judge({{estimate}, {}, "", control}, Expectation(kRule)).measured.at(0).why;
  };
  EXPECT_EQ(why({0.5, 0.3, 0.7, 40}, 0.25), "an untrained network shows 0.25");
  EXPECT_EQ(why({0.5, 0.3, 0.7, 40}, 0.1), "as claimed");
  EXPECT_EQ(why({0.5, -0.3, 0.7, 40}, 0.25), "too wide an interval for a margin of 0.1");
}

NetworkQuantity number(const char* quantity, bool diffusion, int index, double value,
                       const char* control = "") {
  Network network{(diffusion ? "d" : "a") + std::to_string(index) + control, diffusion};
  network.control = control;
  const double apart = 0.0002 * index;
  return {"C4",      quantity, network,
          "reading", "",       {value + apart, value + apart - 0.0008, value + apart + 0.0008, 40}};
}

// The largest column of untrained networks differs between the arms, because the answers of one are all
// alike.
std::vector<NetworkQuantity> five(double largest, double of_control) {
  const std::string first(rules::kExcessOfFirst), top(rules::kExcessOfLargest);
  std::vector<NetworkQuantity> out;
  for (int n = 0; n < 5; ++n) {
    for (const bool diffusion : {true, false}) {
      out.push_back(number(first.c_str(), diffusion, n, 0));
      out.push_back(number(top.c_str(), diffusion, n, diffusion ? 0.02 + largest : 0.02));
    }
  }
  if (std::isnan(of_control)) return out;
  for (const bool diffusion : {true, false}) {
    out.push_back(number(first.c_str(), diffusion, 9, 0, "untrained"));
    out.push_back(number(top.c_str(), diffusion, 9, diffusion ? 0.02 + of_control : 0.02, "untrained"));
  }
  return out;
}

TEST(ControlledKinds, WhatUntrainedNetworksShowTooDecidesNothing) {
  const auto without = judge_kinds(rule_of("C4"), five(0.04, NAN));
  EXPECT_EQ(without.verdict, Verdict::kContradicted) << without.evidence;
  const auto with = judge_kinds(rule_of("C4"), five(0.04, 0.04));
  EXPECT_EQ(with.verdict, Verdict::kUndecided) << with.evidence;
  EXPECT_TRUE(says(with.evidence, "not beyond what an untrained network shows (-0.04)")) << with.evidence;
  EXPECT_EQ(with.diffusion, 5u) << "a control is no network of an arm";
  const auto far = judge_kinds(rule_of("C4"), five(0.1, 0.04));
  EXPECT_EQ(far.verdict, Verdict::kContradicted) << far.evidence;
}

}  // namespace
}  // namespace buoy::claims

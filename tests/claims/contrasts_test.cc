// What mask and objective do to the numbers of claims.

#include "buoy/claims/contrasts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "buoy/claims/rules.h"
#include "buoy/result/schema/claims.h"
#include "buoy/result/table_view.h"
#include "buoy/stats/arms.h"

namespace buoy::claims {
namespace {

NetworkQuantity number(const std::string& name, bool masked_tokens, const std::string& mask, double value) {
  Network network{name, masked_tokens};
  network.mask = mask;
  return {"C4", "sink", network, "short", "", {value, value - 0.02, value + 0.02, 64}};
}

// A sink that a causal mask makes 0.3 larger and masked tokens 0.1 smaller.
std::vector<NetworkQuantity> planted() {
  std::vector<NetworkQuantity> out;
  for (int seed = 0; seed < 5; ++seed) {
    const double noise = 0.01 * (seed - 2);
    const std::string s = std::to_string(seed);
    out.push_back(number("full" + s, true, "full", 0.1 + noise));
    out.push_back(number("masked" + s, true, "causal", 0.4 - noise));
    out.push_back(number("next" + s, false, "causal", 0.5 + noise));
    out.push_back(number("prefix" + s, false, "prefix", 0.2 - noise));
  }
  return out;
}

TEST(Contrasts, FindWhatMaskAndObjectiveDo) {
  const auto contrasts = contrasts_of(planted());
  ASSERT_EQ(contrasts.size(), 6u);  // of four arms
  const auto between = [&](const std::string& arm, const std::string& other) {
    for (const auto& one : contrasts) {
      if (one.arm == arm && one.other == other) return one;
    }
    ADD_FAILURE() << arm << " against " << other;
    return ArmContrast{};
  };
  const auto mask = between("masked tokens, full mask", "masked tokens, causal mask");
  EXPECT_EQ(mask.effect, "mask");
  EXPECT_NEAR(mask.estimate.value, -0.3, 1e-12);
  EXPECT_LT(mask.estimate.upper, -0.2);
  EXPECT_GT(mask.estimate.lower, -0.4);
  EXPECT_EQ(mask.networks, 5u);
  const auto objective = between("masked tokens, causal mask", "next token, causal mask");
  EXPECT_EQ(objective.effect, "objective");
  EXPECT_NEAR(objective.estimate.value, -0.1, 1e-12);
  const auto both = between("masked tokens, full mask", "next token, causal mask");
  EXPECT_EQ(both.effect, "mask and objective");
  EXPECT_NEAR(both.estimate.value, -0.4, 1e-12);
  EXPECT_EQ(between("next token, prefix mask", "next token, causal mask").effect, "mask");
}

// The interval is that of stats/arms, whose coverage is simulated there.
TEST(Contrasts, HaveTheIntervalOfTwoArms) {
  auto numbers = planted();
  const auto arm = [&](bool masked_tokens, const char* mask) {
    std::vector<stats::NetworkNumber> out;
    for (const auto& one : numbers) {
      if (one.network.masked_diffusion == masked_tokens && one.network.mask == mask)
        out.push_back({one.estimate.value, stats::error_of_interval(one.estimate.interval(), 0.95), 64});
    }
    return stats::arm_mean(out);
  };
  const auto expected = stats::difference_of_arms(arm(true, "causal"), arm(false, "causal"), 0.95);
  std::erase_if(numbers, [](const auto& one) { return one.network.mask != "causal"; });
  const auto found = contrasts_of(numbers).front();
  EXPECT_EQ(found.effect, "objective");
  EXPECT_DOUBLE_EQ(found.estimate.lower, expected.lower);
  EXPECT_DOUBLE_EQ(found.estimate.upper, expected.upper);
}

TEST(Contrasts, LeaveOutControlsSingleNetworksAndUnknownMasks) {
  std::vector<NetworkQuantity> numbers = {number("a", true, "full", 1), number("b", true, "full", 2),
                                          number("c", false, "causal", 3)};
  EXPECT_TRUE(contrasts_of(numbers).empty()) << "one network has no spread";
  numbers.push_back(number("c", false, "causal", 3));
  EXPECT_TRUE(contrasts_of(numbers).empty()) << "the same network again";
  numbers.push_back(number("d", false, "", 4));
  EXPECT_TRUE(contrasts_of(numbers).empty());
  numbers.push_back(number("e", false, "causal", 4));
  numbers.back().network.control = "untrained";
  EXPECT_TRUE(contrasts_of(numbers).empty());
  numbers.push_back(number("f", false, "causal", 4));
  numbers.back().estimate.samples = 9;
  EXPECT_TRUE(contrasts_of(numbers).empty()) << "too few questions";
  numbers.push_back(number("g", false, "causal", 4));
  ASSERT_EQ(contrasts_of(numbers).size(), 1u);
  const auto table = contrasts_table(contrasts_of(numbers));
  EXPECT_EQ(table.rows.size(), 1u);
}

// Two arms of three networks, "never moves" of C1 with a margin of 0.1, and one control of each.
std::vector<NetworkQuantity> still_anchors(double full, double causal, double untrained_full,
                                           double untrained_causal) {
  std::vector<NetworkQuantity> out;
  for (int seed = 0; seed < 3; ++seed) {
    const double noise = 0.01 * (seed - 1);
    out.push_back(number("full" + std::to_string(seed), true, "full", full + noise));
    out.push_back(number("causal" + std::to_string(seed), true, "causal", causal + noise));
  }
  out.push_back(number("untrained-full", true, "full", untrained_full));
  out.push_back(number("untrained-causal", true, "causal", untrained_causal));
  for (std::size_t i = out.size() - 2; i < out.size(); ++i) out[i].network.control = "untrained";
  for (auto& one : out) {
    one.claim = "C1";
    one.quantity = std::string(rules::kStatic.number());
  }
  return out;
}

ArmContrast contrast_of(const std::vector<NetworkQuantity>& numbers) {
  const auto contrasts = contrasts_of(numbers);
  EXPECT_EQ(contrasts.size(), 1u);
  return contrasts.at(0);
}

// As of the family: untrained networks have still anchors under the causal mask and moving ones under the
// full.
TEST(Contrasts, ThatUntrainedNetworksShowAreHeldBack) {
  const auto held = contrast_of(still_anchors(0.3, 0.8, 0.05, 0.9));
  EXPECT_NEAR(held.estimate.value, -0.5, 1e-12);
  EXPECT_LT(held.estimate.upper, -0.1) << "by itself beyond the margin";
  EXPECT_DOUBLE_EQ(held.margin, 0.1);
  EXPECT_NEAR(held.untrained, -0.85, 1e-12);
  EXPECT_EQ(held.finding, ContrastFinding::kAlsoUntrained);
  EXPECT_EQ(contrast_of(still_anchors(0.3, 0.8, 0.4, 0.85)).finding, ContrastFinding::kAlsoUntrained)
      << "-0.5 is not beyond -0.45 by more than the margin";
}

TEST(Contrasts, ThatUntrainedNetworksDoNotShowAreNot) {
  EXPECT_EQ(contrast_of(still_anchors(0.3, 0.8, 0.9, 0.9)).finding, ContrastFinding::kBeyond);
  EXPECT_EQ(contrast_of(still_anchors(0.3, 0.8, 0.8, 0.9)).finding, ContrastFinding::kBeyond)
      << "far beyond what they show";
  EXPECT_EQ(contrast_of(still_anchors(0.3, 0.8, 0.9, 0.3)).finding, ContrastFinding::kBeyond)
      << "they show the opposite";
  EXPECT_EQ(contrast_of(still_anchors(0.8, 0.3, 0.9, 0.9)).finding, ContrastFinding::kBeyond) << "above";
}

TEST(Contrasts, SayWhereNoControlOfBothArmsWasThere) {
  auto numbers = still_anchors(0.3, 0.8, 0.05, 0.9);
  numbers.pop_back();
  EXPECT_TRUE(std::isnan(contrast_of(numbers).untrained));
  EXPECT_EQ(contrast_of(numbers).finding, ContrastFinding::kBeyondUnchecked);
}

TEST(Contrasts, InsideTheMarginAndWideOnesAreNoFindings) {
  auto numbers = still_anchors(0.5, 0.5, 0.05, 0.9);
  EXPECT_EQ(contrast_of(numbers).finding, ContrastFinding::kWithin);
  numbers[0].estimate = {0.9, 0.88, 0.92, 64};
  EXPECT_EQ(contrast_of(numbers).finding, ContrastFinding::kOpen);
}

TEST(Contrasts, TakeTheMarginOfTheQuantity) {
  EXPECT_DOUBLE_EQ(margin_of_difference("C4", std::string(rules::kExcessOfLargest)), 0.005);
  EXPECT_DOUBLE_EQ(margin_of_difference("C2", "slope of entropy: per_head"), 0.02);
  EXPECT_DOUBLE_EQ(margin_of_difference("C7", "gain in exact match"), 0) << "its margin is one of ratios";
  EXPECT_DOUBLE_EQ(margin_of_difference("C7", std::string(rules::kRoom)), 0);
}

// What the table and docs/verdicts.md call them.
TEST(Contrasts, AreToldByNameInTheTableAndInTheRules) {
  const auto contrast = contrast_of(still_anchors(0.3, 0.8, 0.05, 0.9));
  const auto table = contrasts_table(std::span(&contrast, 1));
  EXPECT_EQ(TableView(table).text(schema::claim_contrasts.finding), "also without training");
  const std::string page = describe_verdicts();
  for (const auto finding :
       {ContrastFinding::kBeyond, ContrastFinding::kBeyondUnchecked, ContrastFinding::kAlsoUntrained,
        ContrastFinding::kWithin, ContrastFinding::kOpen})
    EXPECT_NE(page.find(fmt::format("**{}**", name_of(finding))), std::string::npos) << name_of(finding);
  EXPECT_EQ(canonical_rules().find("also without training"), std::string::npos)
      << "no verdict depends on contrasts: tables of siblings must stay comparable";
}

}  // namespace
}  // namespace buoy::claims

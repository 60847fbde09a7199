// What mask and objective do to the numbers of claims.

#include "buoy/claims/contrasts.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace buoy::claims

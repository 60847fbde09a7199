#include "buoy/claims/kinds.h"

#include <gtest/gtest.h>

#include "buoy/base/random.h"
#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

double drawn(std::uint32_t study, std::uint32_t index) {
  return normal(37, {DrawStream::kWeights, 6, study, index});
}

NetworkQuantity number(const std::string& claim, const std::string& quantity, bool masked_diffusion,
                       int index, double value, double reach = 0.01) {
  return {claim,       quantity, {(masked_diffusion ? "d" : "a") + std::to_string(index), masked_diffusion},
          "questions", "",       {value, value - reach, value + reach, 64}};
}

// C4 with arms whose networks lie about two means, `spread` apart from each other.
struct Sinks {
  double autoregressive_first, diffusion_first, autoregressive_largest, diffusion_largest;
};
std::vector<NetworkQuantity> sinks(const Sinks& s, std::uint32_t study, int networks = 5,
                                   double spread = 0.01) {
  std::vector<NetworkQuantity> out;
  for (int n = 0; n < networks; ++n) {
    const auto add = [&](std::string_view quantity, bool diffusion, double mean, std::uint32_t draw) {
      out.push_back(number("C4", std::string(quantity), diffusion, n,
                           mean + spread * drawn(study, draw * 100 + static_cast<std::uint32_t>(n))));
    };
    add(rules::kExcessOfFirst, false, s.autoregressive_first, 1);
    add(rules::kExcessOfFirst, true, s.diffusion_first, 2);
    add(rules::kExcessOfLargest, false, s.autoregressive_largest, 3);
    add(rules::kExcessOfLargest, true, s.diffusion_largest, 4);
  }
  return out;
}

KindsVerdict judged(const std::vector<NetworkQuantity>& numbers, const char* claim = "C4") {
  return judge_kinds(rule_of(claim), numbers);
}

constexpr Sinks kStrong{0.12, 0.01, 0.14, 0.05}, kTurned{0.05, 0.12, 0.05, 0.12}, kNone{0, 0, 0, 0};

TEST(Kinds, ArmsAreComparedBetweenTheirNetworks) {
  const auto kinds = judged(sinks(kStrong, 1));
  EXPECT_EQ(kinds.verdict, Verdict::kSupported) << kinds.evidence;
  EXPECT_EQ(kinds.words, "supported (5 per arm; 3 for)");
  ASSERT_EQ(kinds.quantities.size(), 3u);
  EXPECT_NEAR(kinds.quantities[1].estimate.value, 0.11, 0.03);
  EXPECT_TRUE(says(kinds.evidence, "excess share of position 0, autoregressive minus diffusion"))
      << kinds.evidence;
  EXPECT_EQ(judged(sinks(kTurned, 1)).verdict, Verdict::kContradicted);
}

// Student's t does not know that no correlation is above 1, and no share below 0.
TEST(Kinds, NumbersStayWhatTheyCanBe) {
  std::vector<NetworkQuantity> numbers;
  for (int n = 0; n < 5; ++n) {
    numbers.push_back(number("C1", std::string(rules::kStep.number()), true, n, n < 4 ? 0.98 : -0.5));
    numbers.push_back(number("C1", std::string(rules::kStatic.number()), true, n, n < 4 ? 0.02 : 0.9));
  }
  const auto kinds = judged(numbers, "C1");
  const auto& step = kinds.quantities[0];
  EXPECT_EQ(step.estimate.upper, 1) << kinds.evidence;
  EXPECT_EQ(step.of_diffusion.upper, 1);
  EXPECT_GT(step.estimate.lower, -1) << "what is possible is left as it is";
  EXPECT_EQ(kinds.quantities[2].estimate.lower, 0) << kinds.evidence;
}

TEST(Kinds, FewerThanFivePerArmAreTooFew) {
  const auto four = judged(sinks(kStrong, 1, 4));
  EXPECT_FALSE(four.enough);
  EXPECT_EQ(four.words, "too few networks (4 per arm; from 5 on)");
  auto numbers = sinks(kStrong, 1);
  std::erase_if(numbers, [](const auto& one) { return one.network.name == "a4"; });
  EXPECT_EQ(judged(numbers).words, "too few networks (5 masked-diffusion, 4 autoregressive; from 5 on)");
}

TEST(Kinds, ControlsAndNumbersWithoutIntervalDoNotCount) {
  auto numbers = sinks(kStrong, 1);
  for (auto& one : numbers) {
    if (one.network.name == "d0") one.network.control = "untrained";
  }
  EXPECT_FALSE(judged(numbers).enough);
  numbers = sinks(kStrong, 1);
  numbers[0].estimate.samples = kFewestSamples - 1;
  const auto thin = judged(numbers);
  EXPECT_EQ(thin.verdict, Verdict::kNotTestable) << "four autoregressive networks are left for position 0";
  EXPECT_TRUE(says(thin.evidence, "too few networks have it")) << thin.evidence;
}

TEST(Kinds, TheSameWeightsAreOneNetwork) {
  auto numbers = sinks(kStrong, 1);
  for (auto& one : numbers) one.network.weights = one.network.masked_diffusion ? "same" : one.network.name;
  EXPECT_EQ(judged(numbers).words, "too few networks (1 masked-diffusion, 5 autoregressive; from 5 on)");
}

TEST(Kinds, QuestionsThatDifferAreNotMixed) {
  auto numbers = sinks(kStrong, 1);
  for (auto& one : numbers) {
    if (one.network.name == "d3" || one.network.name == "d4") one.data = "others";
  }
  const auto kinds = judged(numbers);
  EXPECT_EQ(kinds.verdict, Verdict::kNotTestable) << kinds.evidence;
}

TEST(Kinds, OfUntrainedLikeNetworksNothingIsDecided) {
  int decided = 0, found = 0;
  constexpr int kStudies = 400;
  for (std::uint32_t study = 0; study < kStudies; ++study) {
    // Spread about the null as wide as the margin: neither side is there to be found.
    const auto verdict = judged(sinks(kNone, study, 5, 0.02)).verdict;
    decided += verdict == Verdict::kSupported || verdict == Verdict::kContradicted ? 1 : 0;
    found += judged(sinks(kStrong, study, 5, 0.02)).verdict == Verdict::kSupported ? 1 : 0;
  }
  EXPECT_LE(decided, kStudies / 20);
  EXPECT_GE(found, kStudies * 8 / 10);
}

TEST(Kinds, TwiceTheGainNeedsRoom) {
  const auto gains = [](double diffusion, double autoregressive, double room) {
    std::vector<NetworkQuantity> out;
    for (int n = 0; n < 5; ++n) {
      const double off = 0.01 * (n - 2);
      out.push_back(number("C7", quantity_name(rules::kGainRatio), true, n, diffusion + off));
      out.push_back(number("C7", quantity_name(rules::kGainRatio), false, n, autoregressive + off));
      out.push_back(number("C7", std::string(rules::kRoom), true, n, room, 0));
    }
    return out;
  };
  EXPECT_EQ(judged(gains(0.9, 0.3, 0.95), "C7").verdict, Verdict::kSupported);
  EXPECT_EQ(judged(gains(0.4, 0.4, 0.95), "C7").verdict, Verdict::kContradicted);
  const auto ceiling = judged(gains(0.9, 0.6, 0.95), "C7");
  EXPECT_EQ(ceiling.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(ceiling.evidence, "no room")) << ceiling.evidence;
}

TEST(Kinds, AThirdThatMattersToBothKindsIsMixed) {
  const auto hidden = [](double diffusion, double autoregressive) {
    std::vector<NetworkQuantity> out;
    for (int n = 0; n < 5; ++n) {
      for (const char* against : {"random", "structural"}) {
        const std::string detail = std::string("deep third, ") + against + " columns";
        const double off = 0.01 * (n - 2);
        out.push_back(number("C10", quantity_name(rules::kHidden, detail), true, n, diffusion + off));
        out.push_back(number("C10", quantity_name(rules::kHidden, detail), false, n, autoregressive + off));
      }
    }
    return out;
  };
  EXPECT_EQ(judged(hidden(-0.3, 0), "C10").verdict, Verdict::kSupported);
  EXPECT_EQ(judged(hidden(-0.3, -0.3), "C10").verdict, Verdict::kMixed);
  EXPECT_EQ(judged(hidden(0, 0), "C10").verdict, Verdict::kNoDifference);
}

TEST(Quantities, LayersMakeOneNumberBetweenTheMeansOfTheirEnds) {
  const std::vector<stats::Estimate> layers = {{1, 0, 2, 40}, {3, 2, 6, 30}, {}, {100, 0, 200, 3}};
  const auto mean = mean_over_layers(layers);
  EXPECT_EQ(mean.value, 2);
  EXPECT_EQ(mean.lower, 1);
  EXPECT_EQ(mean.upper, 4);
  EXPECT_EQ(mean.samples, 30);
}

TEST(Quantities, EveryRuleFindsItsOwn) {
  for (const auto& rule : claim_rules()) {
    for (const auto& quantity : rule.about_kinds()) {
      EXPECT_TRUE(is_of(quantity, quantity_name(quantity)));
      EXPECT_TRUE(is_of(quantity, quantity_name(quantity, "gold at 1")));
      EXPECT_EQ(detail_of(quantity, quantity_name(quantity, "gold at 1")), "gold at 1");
      EXPECT_FALSE(is_of(quantity, std::string(quantity.number()) + " and more"));
    }
  }
}

}  // namespace
}  // namespace buoy::claims

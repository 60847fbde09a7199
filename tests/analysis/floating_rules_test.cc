#include "buoy/analysis/floating/floating_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "buoy/analysis/core/uniform.h"
#include "buoy/analysis/drift/anchor_tracks.h"
#include "buoy/analysis/drift/set_stability.h"
#include "buoy/analysis/qk/qk_sums.h"
#include "buoy/analysis/sample/token_type.h"
#include "buoy/base/random.h"

namespace buoy::analysis {
namespace {

Anchors find(Rule rule, const std::vector<double>& received, const Mask& mask = kFullMask) {
  AnchorDetector detector(mask, static_cast<std::int64_t>(received.size()), {});
  detector.look(received);
  Anchors anchors;
  detector.find(rule, anchors);
  return anchors;
}

// `strong` equal anchors that hold `share` together, the rest even.
std::vector<double> with_anchors(size_t tokens, size_t strong, double share) {
  std::vector<double> received(tokens, (1 - share) / static_cast<double>(tokens - strong));
  for (size_t k = 0; k < strong; ++k) received[k * (tokens / strong)] = share / static_cast<double>(strong);
  return received;
}

TEST(FloatingRules, TheLargestLiftIsFoundBeforeAnyRuleHasLooked) {
  std::vector<double> received(64, 1.0 / 128);
  received[40] = 0.5;
  AnchorDetector detector(kCausalMask, 64, {});
  for (int again = 0; again < 2; ++again) {
    detector.look(received);
    EXPECT_EQ(detector.top_lift(), 40);
  }
}

// docs/measurements.md 4.1: three sigma marks early positions of uniform causal attention, without any sink.
TEST(FloatingRules, UniformCausalAttentionIsMarkedByThreeSigmaAndNotByItsLift) {
  const std::vector<std::pair<std::int64_t, size_t>> known = {{28, 1},  {52, 1},  {64, 1},    {84, 2},
                                                              {128, 2}, {256, 5}, {1024, 19}, {4096, 75}};
  for (const auto& [tokens, count] : known) {
    const auto uniform = uniform_received(kCausalMask, tokens);
    const Anchors anchors = find(Rule::kThreeSigma, uniform, kCausalMask);
    ASSERT_EQ(anchors.positions.size(), count) << tokens;
    for (size_t k = 0; k < count; ++k) EXPECT_EQ(anchors.positions[k], static_cast<std::int32_t>(k));
    for (const Rule rule : {Rule::kThreeSigmaLift, Rule::kShare, Rule::kShareDouble})
      EXPECT_TRUE(find(rule, uniform, kCausalMask).positions.empty()) << tokens;
    EXPECT_TRUE(find(Rule::kThreeSigma, uniform_received(kFullMask, tokens)).positions.empty());
    const Mask prefix = prefix_mask(tokens / 2);
    for (const Rule rule : {Rule::kThreeSigmaLift, Rule::kShare, Rule::kShareDouble})
      EXPECT_TRUE(find(rule, uniform_received(prefix, tokens), prefix).positions.empty()) << tokens;
  }
}

// a_j <= 1, so a_j > mean of the others + 3 cannot be, whatever the attention.
TEST(FloatingRules, TheAdditiveRuleNeverFires) {
  for (std::uint32_t n = 0; n < 200; ++n) {
    std::vector<double> received;
    for (std::uint32_t j = 0; j < 2 + n; ++j)
      received.push_back(std::pow(uniform(n, {DrawStream::kWeights, 0, j, 0}), 20));
    const double total = std::accumulate(received.begin(), received.end(), 0.0);
    for (double& value : received) value /= total;
    const Anchors anchors = find(Rule::kAdditive, received);
    EXPECT_FALSE(anchors.fired);
    ASSERT_EQ(anchors.positions.size(), 1u) << "the largest stands in";
    EXPECT_EQ(anchors.positions, find(Rule::kTop1, received).positions);
  }
  EXPECT_FALSE(find(Rule::kAdditive, {0, 0, 1}).fired);
}

TEST(FloatingRules, WithAnotherNumberAreNamedByItAndNotPublished) {
  const RuleOptions published, other{.epsilon = 2, .share_factor = 5};
  EXPECT_EQ(rule_name(Rule::kThreeSigma, published), "three_sigma");
  EXPECT_EQ(estimator_name(Rule::kThreeSigma, published), "published");
  EXPECT_EQ(way_name(kThreeSigmaHead, published), "three_sigma_head");
  EXPECT_EQ(rule_name(Rule::kThreeSigma, other), "2_sigma");
  EXPECT_EQ(rule_name(Rule::kThreeSigmaLift, other), "2_sigma_lift");
  EXPECT_EQ(way_name(kThreeSigmaHead, other), "2_sigma_head");
  EXPECT_EQ(way_name(kThreeSigmaMean, other), "2_sigma_head_mean");
  EXPECT_EQ(rule_name(Rule::kShare, other), "share_5");
  EXPECT_EQ(estimator_name(Rule::kThreeSigma, other), "calibrated");
  EXPECT_EQ(estimator_name(Rule::kAdditive, other), "published") << "its 3 is not that option";
}

TEST(FloatingRules, ThreeSigmaNeedsRoom) {
  for (size_t tokens = 2; tokens <= 10; ++tokens)
    EXPECT_FALSE(find(Rule::kThreeSigma, with_anchors(tokens, 1, 0.99)).defined) << tokens;
  EXPECT_EQ(find(Rule::kThreeSigma, with_anchors(11, 1, 0.99)).positions.size(), 1u);
}

// k equal anchors among n are sqrt((n - k)/k) deviations out: found only while k < n/10.
TEST(FloatingRules, AnchorsHideEachOtherFromThreeSigma) {
  for (const auto& [tokens, most] : {std::pair<size_t, size_t>{52, 5}, {64, 6}}) {
    for (size_t k = 1; k <= 2 * most; ++k) {
      const auto received = with_anchors(tokens, k, 0.9);
      EXPECT_EQ(find(Rule::kThreeSigma, received).positions.size(), k <= most ? k : 0) << tokens << " " << k;
      EXPECT_EQ(find(Rule::kRulliPercent, received).positions.size(), k) << "shares of 7.5% and more pass";
    }
  }
}

// docs/measurements.md 4.2: at T = 64 the two scales mean shares of 6.2% and 4.5%.
TEST(FloatingRules, RulliThresholds) {
  const double sum = 1.0 / 64 + 3.0 / 64 * 63 / 64, percent = 1.0 / 64 + 0.03 * 63 / 64;
  EXPECT_NEAR(sum, 0.062, 5e-4);
  EXPECT_NEAR(percent, 0.045, 5e-4);
  const auto marks = [](Rule rule, double share) {
    std::vector<double> received(64, (1 - share) / 63);
    received[9] = share;
    return find(rule, received).positions.size();
  };
  EXPECT_EQ(marks(Rule::kRulliSum, sum + 1e-9), 1u);
  EXPECT_EQ(marks(Rule::kRulliSum, sum - 1e-9), 0u);
  EXPECT_EQ(marks(Rule::kRulliPercent, percent + 1e-9), 1u);
  EXPECT_EQ(marks(Rule::kRulliPercent, percent - 1e-9), 0u);
}

TEST(FloatingRules, TiesGoToTheLowestAndTheMarginIsOverTheSecond) {
  AnchorDetector detector(kFullMask, 4, {});
  const std::vector<double> received = {0.1, 0.4, 0.4, 0.1};
  detector.look(received);
  EXPECT_EQ(detector.top(), 1);
  EXPECT_EQ(detector.margin(), 0);
  const std::vector<double> first = {0.6, 0.1, 0.2, 0.1};
  detector.look(first);
  EXPECT_EQ(detector.top(), 0);
  EXPECT_DOUBLE_EQ(detector.margin(), 0.4);
}

TEST(FloatingRules, TheLastCausalKeysDoNotQualifyBySelfAttention) {
  // Attention to itself alone from the last query: 1/T of all, far above its null 1/T^2.
  auto received = uniform_received(kCausalMask, 64);
  received[63] = 1.0 / 64;
  EXPECT_TRUE(find(Rule::kShare, received, kCausalMask).positions.empty());
}

TEST(SetStability, EmptyPairsAreLeftOutAndCounted) {
  SetStability sets;
  sets.reset(8);
  for (const auto& positions : std::vector<std::vector<std::int32_t>>{{}, {}, {1, 2}, {2, 3}})
    sets.add({true, true, positions}, 8);
  // Pairs: skipped, {} and {1,2}: 0, {1,2} and {2,3}: 1/3. Random: 0 and 2/(16 - 2).
  EXPECT_DOUBLE_EQ(sets.jaccard(), (0 + 1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(sets.jaccard_null(), (0 + 2.0 / 14) / 2);
  EXPECT_DOUBLE_EQ(sets.skipped_pairs(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(sets.persistence(), 0.5);
  sets.reset(8);
  sets.add({true, false, {}}, 8);
  EXPECT_TRUE(std::isnan(sets.jaccard()) && std::isnan(sets.persistence()));
}

TEST(AnchorTracks, BirthMoveAndDeath) {
  // 4 stays, 9 moves to 7 as it leaves, 1 is born at step 2; at the end 4 dies with nothing near to take
  // over.
  const auto tracks = anchor_tracks({{4, 9}, {4, 7}, {1, 4, 7}, {1, 7}});
  ASSERT_EQ(tracks.size(), 3u);
  EXPECT_EQ(tracks[0].death(), 2);
  EXPECT_EQ(tracks[1].stays.size(), 2u);
  EXPECT_EQ(tracks[1].distance(), 2);
  EXPECT_EQ(tracks[1].death(), 3);
  EXPECT_EQ(tracks[2].birth(), 2);
  EXPECT_TRUE(anchor_tracks({{}, {}}).empty());
}

TEST(TokenTypes, ByText) {
  const std::vector<std::pair<const char*, TokenType>> known = {{"\n\n", TokenType::kWhiteSpace},
                                                                {" ", TokenType::kWhiteSpace},
                                                                {"", TokenType::kWhiteSpace},
                                                                {" .\n", TokenType::kPunctuation},
                                                                {"...", TokenType::kPunctuation},
                                                                {"\xE2\x80\x94", TokenType::kPunctuation},
                                                                {"\xE3\x80\x82", TokenType::kPunctuation},
                                                                {" 1984", TokenType::kDigit},
                                                                {"1,", TokenType::kDigit},
                                                                {" Paris", TokenType::kContent},
                                                                {"a.", TokenType::kContent},
                                                                {"\xC3\xA9", TokenType::kContent},
                                                                {"<|endoftext|>", TokenType::kSpecial},
                                                                {"<s>", TokenType::kSpecial},
                                                                {"<a>", TokenType::kContent},
                                                                {"\xEF\xBF\xBD", TokenType::kContent}};
  for (const auto& [text, type] : known) EXPECT_EQ(type_of_text(text), type) << text;
}

}  // namespace
}  // namespace buoy::analysis

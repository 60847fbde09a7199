#include "buoy/run/change/head_change.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/run/condition.h"
#include "support/fails_with.h"

namespace buoy::run {
namespace {

std::vector<HeadId> ranked_heads(std::int64_t layers, std::int64_t heads) {
  std::vector<HeadId> out;
  for (std::int64_t l = layers - 1; l >= 0; --l) {
    for (std::int64_t h = 0; h < heads; ++h) out.push_back({l, h});
  }
  return out;
}

TEST(HeadChangeProbe, SwitchesOffTheNamedHeadsAndNoOthers) {
  HeadChangeProbe mask({{1, 0}, {1, 3}}, 3, 4);
  const auto of_layer = [&](std::int64_t layer) {
    probe::Address address;
    address.layer = layer;
    const auto scale = mask.change(address, {1, 1, 4, {}}).head_scale;
    return std::vector<float>(scale.begin(), scale.end());
  };
  EXPECT_EQ(of_layer(0), std::vector<float>());
  EXPECT_EQ(of_layer(1), (std::vector<float>{0, 1, 1, 0}));
  EXPECT_EQ(of_layer(2), std::vector<float>());
}

TEST(HeadChangeProbe, RefusesHeadsThereAreNone) {
  EXPECT_TRUE(testing::fails_with<UsageError>(
      [] {
        HeadChangeProbe({{3, 0}}, 3, 4);
      },
      {"layer below 3", "3.0"}));
  EXPECT_TRUE(testing::fails_with<UsageError>(
      [] {
        HeadChangeProbe({{0, 4}}, 3, 4);
      },
      {"head below 4", "0.4"}));
}

TEST(RandomHeads, AreAsManyOthersAndTheSameForTheSameDraw) {
  const auto ranked = ranked_heads(8, 4);
  for (std::uint64_t draw = 1; draw <= 5; ++draw) {
    const auto drawn = random_heads(ranked, 7, draw);
    ASSERT_EQ(drawn.size(), 7u);
    for (size_t i = 0; i < drawn.size(); ++i) {
      EXPECT_EQ(std::count(drawn.begin(), drawn.end(), drawn[i]), 1);
      EXPECT_EQ(std::count(ranked.begin(), ranked.begin() + 7, drawn[i]), 0);
    }
    EXPECT_EQ(drawn, random_heads(ranked, 7, draw));
    EXPECT_NE(drawn, random_heads(ranked, 7, draw + 1));
  }
}

TEST(HeadConditions, RefuseAShareThatIsNone) {
  for (const double share : {0.0, 1.0, -0.1}) {
    EXPECT_TRUE(testing::fails_with<UsageError>(
        [&] {
          head_conditions({{}, share, 1}, {});
        },
        {"share of heads", "more than 0"}));
  }
}

}  // namespace
}  // namespace buoy::run

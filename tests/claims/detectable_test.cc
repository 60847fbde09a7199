// What a study can find, before and after it ran.

#include "buoy/claims/detectable.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/claims/claims_evidence.h"
#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

double effect_of(const std::vector<Detectable>& all, std::string_view quantity) {
  for (const auto& one : all) {
    if (one.quantity == quantity) return one.effect;
  }
  ADD_FAILURE() << quantity;
  return NAN;
}

TEST(Detectable, FallsWithQuestionsToTheMarginAndWithNetworks) {
  const auto few = detectable_of_traces(24), many = detectable_of_traces(2400);
  ASSERT_EQ(few.size(), many.size());
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_GT(few[i].effect, many[i].effect) << few[i].quantity;
  }
  EXPECT_NEAR(effect_of(many, rules::kStep.what), 0.1 + 0.39 / std::sqrt(2400.0) * (2.4977 + 0.8416), 0.001)
      << "four quantities: the level is 0.0125";
  const auto five = detectable_of_traces(64, 5), twenty = detectable_of_traces(64, 20);
  for (std::size_t i = 0; i < five.size(); ++i) {
    EXPECT_GT(five[i].effect, twenty[i].effect) << five[i].quantity;
    EXPECT_GT(twenty[i].effect, 0) << five[i].quantity;
  }
}

TEST(Detectable, EverySpreadIsOfAQuantity) {
  for (const auto& spread : assumed_spreads()) {
    EXPECT_GT(spread.over_questions, 0) << spread.quantity;
    EXPECT_GT(spread.over_networks, 0) << spread.quantity;
  }
  EXPECT_EQ(detectable_of_traces(24).size(), assumed_spreads().size());
}

TEST(Detectable, OfDropsIsBeyondTheMarginAndCorrected) {
  // By another program: Newcombe's interval at 1 - 0.05 / 4, beyond 0.05.
  EXPECT_NEAR(detectable_of_places(64).effect, 0.224, 0.001);
  EXPECT_NEAR(detectable_of_places(200).effect, 0.123, 0.001);
  EXPECT_TRUE(says(describe({{detectable_of_places(12)}}), "C9: drop in the middle from 0.66 on"));
  EXPECT_TRUE(says(describe({{detectable_of_gains(12)}}), "none")) << "the ceiling comes first";
}

TEST(Detectable, IsSaidOfWhatStaysOpen) {
  const Estimate open{0.1, -0.1, 0.3, 40};
  // Its standard error is 0.2 / 1.96: 0.1 + 0.102 * (1.96 + 0.84).
  EXPECT_NEAR(detectable_by(open, rules::kStep), 0.386, 0.001);
  EXPECT_EQ(remark(open, rules::kStep, side_of_null(open, rules::kStep)),
            "not decided by this data, which finds effects from 0.39 on");
}

}  // namespace
}  // namespace buoy::claims

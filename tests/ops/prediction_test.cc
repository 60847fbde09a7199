// What a row of logits says: properties, and equality with the reference in double.

#include "buoy/ops/sampling/prediction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "ops/error_ratio.h"

namespace buoy::ops {
namespace {

struct Named {
  RowPrediction row;
  std::vector<std::int32_t> tokens;
  std::vector<float> probabilities;
};

Named predict(const std::vector<float>& logits, std::int32_t held = kMostProbable, size_t top = 5) {
  Named out{{}, std::vector<std::int32_t>(top, 77), std::vector<float>(top, 77)};
  out.row = predict_row(logits, held, out.tokens, out.probabilities);
  return out;
}

TEST(Prediction, EvenLogitsHaveTheLargestEntropyAndNoMargin) {
  for (const size_t vocabulary : {1u, 2u, 7u, 50257u}) {
    const auto found = predict(std::vector<float>(vocabulary, -3.5f), kMostProbable, 2);
    const double even = 1.0 / static_cast<double>(vocabulary);
    EXPECT_NEAR(found.row.entropy, std::log(static_cast<double>(vocabulary)), 1e-9) << vocabulary;
    EXPECT_NEAR(found.row.confidence, even, 1e-12) << vocabulary;
    EXPECT_NEAR(found.row.margin, vocabulary > 1 ? 0 : 1, 1e-12) << vocabulary;
    EXPECT_EQ(found.tokens[0], 0);
    EXPECT_EQ(found.tokens[1], vocabulary > 1 ? 1 : kNoToken);
  }
}

// ln 1, ln 2, ln 5: shares of 1, 2 and 5 in 8.
TEST(Prediction, WorkedOutByHand) {
  const std::vector<float> logits = {0, std::log(5.0f), std::log(2.0f)};
  const auto found = predict(logits, 0, 4);
  EXPECT_NEAR(found.row.confidence, 1.0 / 8, 1e-7);
  EXPECT_NEAR(found.row.margin, 3.0 / 8, 1e-7);
  EXPECT_NEAR(found.row.entropy, std::log(8.0) - (2.0 / 8) * std::log(2.0) - (5.0 / 8) * std::log(5.0), 1e-7);
  EXPECT_EQ(found.tokens, (std::vector<std::int32_t>{1, 2, 0, kNoToken}));
  EXPECT_NEAR(found.probabilities[0], 5.0 / 8, 1e-7);
  EXPECT_EQ(found.probabilities[3], 0);
  EXPECT_NEAR(predict(logits).row.confidence, 5.0 / 8, 1e-7);
}

TEST(Prediction, TiesGoToTheLowerId) {
  const auto found = predict({1, 3, 0, 3, 3, 1}, kMostProbable, 5);
  EXPECT_EQ(found.tokens, (std::vector<std::int32_t>{1, 3, 4, 0, 5}));
  EXPECT_EQ(found.row.margin, 0);
}

TEST(Prediction, OneTokenFarAboveAll) {
  std::vector<float> logits(1000, -400.0f);
  logits[123] = 400;
  const auto found = predict(logits);
  EXPECT_EQ(found.row.confidence, 1);
  EXPECT_EQ(found.row.margin, 1);
  EXPECT_EQ(found.row.entropy, 0);
  EXPECT_EQ(predict(logits, 5).row.confidence, 0);
}

TEST(Prediction, EqualsTheReference) {
  for (const std::int64_t vocabulary : {1, 2, 3, 9, 1000, 32003}) {
    for (const double spread : {0.0, 0.5, 4.0, 30.0}) {
      const auto logits = testing::normal_numbers(static_cast<std::uint64_t>(vocabulary), vocabulary, spread);
      const std::vector<double> wide(logits.begin(), logits.end());
      for (const std::int32_t held : {kMostProbable, 0, static_cast<std::int32_t>(vocabulary - 1)}) {
        for (const size_t top : {0u, 1u, 5u, 12u}) {
          std::vector<std::int32_t> tokens(top);
          std::vector<double> probabilities(top);
          const auto expected = predict_row_reference(wide, held, tokens, probabilities);
          const auto found = predict(logits, held, top);
          EXPECT_NEAR(found.row.confidence, expected.confidence, 1e-12);
          EXPECT_NEAR(found.row.entropy, expected.entropy, 1e-10);
          EXPECT_NEAR(found.row.margin, expected.margin, 1e-12);
          EXPECT_EQ(found.tokens, tokens) << vocabulary << " " << spread << " " << top;
          for (size_t i = 0; i < top; ++i) EXPECT_NEAR(found.probabilities[i], probabilities[i], 1e-7);
        }
      }
    }
  }
}

TEST(Prediction, IsADistributionAndSorted) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto found = predict(testing::normal_numbers(seed, 400, 3.0), kMostProbable, 400);
    EXPECT_TRUE(std::is_sorted(found.probabilities.rbegin(), found.probabilities.rend()));
    EXPECT_NEAR(std::accumulate(found.probabilities.begin(), found.probabilities.end(), 0.0), 1, 1e-5);
    EXPECT_GE(found.probabilities.back(), 0);
    EXPECT_GE(found.row.entropy, 0);
    EXPECT_LE(found.row.entropy, std::log(400.0));
    EXPECT_NEAR(found.row.margin, found.probabilities[0] - found.probabilities[1], 1e-6);
    EXPECT_NEAR(found.row.confidence, found.probabilities[0], 1e-6);
  }
}

}  // namespace
}  // namespace buoy::ops

// YaRN's frequencies and factors by published check values, and queries that grow with their position.

#include "buoy/ops/pointwise/yarn.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/ops/pointwise/rope.h"

namespace buoy {
namespace {

constexpr ops::YarnScaling kLarge{16, 16384, 32, 1}, kQuarter{0.25, 16384, 32, 1};

TEST(Yarn, FrequenciesOfTheReleasedModels) {
  const auto ramp = ops::yarn_ramp(1e6, 128, kLarge);
  EXPECT_EQ(ramp.low, 20);
  EXPECT_EQ(ramp.high, 37);
  const auto plain = ops::rope_frequencies(1e6, 128, std::nullopt),
             large = ops::yarn_frequencies(1e6, 128, kLarge),
             quarter = ops::yarn_frequencies(1e6, 128, kQuarter);
  ASSERT_EQ(large.size(), 64u);
  for (size_t j = 0; j <= 20; ++j) {
    EXPECT_EQ(large[j], plain[j]) << j;
    EXPECT_EQ(quarter[j], plain[j]) << j;
  }
  struct Value {
    size_t pair;
    double plain, large, quarter;
  };
  for (const Value& v : {Value{25, 4.5315836376e-3, 3.2820660905e-3, 8.5300397884e-3},
                         {30, 1.5399265261e-3, 6.9070233889e-4, 4.2574439250e-3},
                         {35, 5.2329911468e-4, 9.0423008787e-5, 1.9085026535e-3},
                         {36, 4.2169650343e-4, 4.9611353345e-5, 1.6123689837e-3},
                         {37, 3.3982083289e-4, 2.1238802056e-5, 1.3592833316e-3},
                         {63, 1.2409377608e-6, 7.7558610047e-8, 4.9637510430e-6}}) {
    EXPECT_NEAR(plain[v.pair] / v.plain, 1, 1e-10) << v.pair;
    EXPECT_NEAR(large[v.pair] / v.large, 1, 1e-10) << v.pair;
    EXPECT_NEAR(quarter[v.pair] / v.quarter, 1, 1e-10) << v.pair;
  }
}

TEST(Yarn, ARampOfOnePairHasWidth) {
  const auto ramp = ops::yarn_ramp(1e6, 128, {4, 16384, 1.0001, 1.00005});
  EXPECT_LT(ramp.low, ramp.high);
  for (const double value : ops::yarn_frequencies(1e6, 128, {4, 16384, 1.0001, 1.00005}))
    EXPECT_TRUE(std::isfinite(value) && value > 0);
}

TEST(Yarn, AttentionFactors) {
  EXPECT_EQ(ops::yarn_attention_factor(16, 1.0, 1.0), 1);
  EXPECT_NEAR(ops::yarn_attention_factor(16, std::nullopt, std::nullopt), 0.1 * std::log(16.0) + 1, 1e-15);
  EXPECT_NEAR(ops::yarn_attention_factor(16, 1.0, std::nullopt), 0.1 * std::log(16.0) + 1, 1e-15)
      << "one of the two alone does not count";
  EXPECT_NEAR(ops::yarn_attention_factor(40, 2.0, 1.0),
              (0.2 * std::log(40.0) + 1) / (0.1 * std::log(40.0) + 1), 1e-15);
  EXPECT_EQ(ops::yarn_attention_factor(0.25, std::nullopt, std::nullopt), 1);
}

TEST(Yarn, QueriesGrowWithTheirPosition) {
  const ops::RotaryScales scales{1, 0.1, 16384};
  EXPECT_TRUE(scales.any());
  EXPECT_EQ(scales.of_query(0), 1);
  EXPECT_EQ(scales.of_query(16383), 1);
  EXPECT_NEAR(scales.of_query(16384), 1.0693147181, 1e-10);
  EXPECT_NEAR(scales.of_query(32767), 1.0693147181, 1e-10);
  EXPECT_NEAR(scales.of_query(32768), 1.1098612289, 1e-10);
  EXPECT_EQ(scales.of_key(), 1);
  EXPECT_FALSE(ops::RotaryScales{}.any());

  ThreadPool threads(2);
  std::vector<float> states = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int32_t> positions = {5, 16384, 40000};
  ops::scale_rows({threads}, scales, {states.data(), 2, positions, true});
  for (size_t i = 0; i < states.size(); ++i)
    EXPECT_EQ(states[i], static_cast<float>(i + 1) * static_cast<float>(scales.of_query(positions[i / 2])));
  std::vector<float> keys = {1, 2, 3, 4, 5, 6};
  ops::scale_rows({threads}, {1.25, 0.1, 16384}, {keys.data(), 2, positions});
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(keys[i], static_cast<float>(i + 1) * 1.25f);
}

}  // namespace
}  // namespace buoy

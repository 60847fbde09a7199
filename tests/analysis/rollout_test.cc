#include "buoy/analysis/flow/rollout.h"

#include <gtest/gtest.h>

#include <numeric>

namespace buoy::analysis {
namespace {

// BOS, query, ten documents, answer: the regions of docs/measurements.md 8.
const std::vector<std::int64_t> kLengths = {1, 20, 150, 150, 150, 150, 150, 150, 150, 150, 150, 150, 32};

std::vector<double> as_doubles(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

std::vector<double> answer_row(const Mask& mask, std::int64_t depth, Pooling pooling) {
  const RegionMatrix mass = uniform_region_mass(kLengths, mask);
  const std::vector<RegionMatrix> layers(static_cast<size_t>(depth),
                                         rollout_layer(mass, as_doubles(kLengths), pooling));
  const std::vector<std::int64_t> depths = {depth};
  const RegionMatrix product = rollouts(layers, depths)[0];
  const auto row = product.row(12);
  return {row.begin(), row.end()};
}

TEST(Rollout, UniformCausalAttentionGivesTheAnswerRowWrittenInTheSpecification) {
  // docs/measurements.md 8: layers, BOS, query, documents 1, 2, 3 and 10, answer.
  const std::vector<std::vector<double>> table = {
      {1, .000, .007, .049, .049, .049, .049, .505},  {2, .002, .023, .120, .094, .082, .050, .255},
      {4, .010, .088, .269, .141, .100, .027, .065},  {8, .063, .278, .401, .105, .054, .004, .004},
      {16, .291, .470, .217, .014, .004, .000, .000}, {32, .716, .264, .020, .000, .000, .000, .000}};
  const size_t columns[] = {0, 1, 2, 3, 4, 11, 12};
  for (const auto& expected : table) {
    const auto row = answer_row(kCausalMask, static_cast<std::int64_t>(expected[0]), Pooling::kSum);
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-12);
    for (size_t c = 0; c < 7; ++c)
      EXPECT_NEAR(row[columns[c]], expected[c + 1], 5.1e-4)
          << expected[0] << " layers, column " << columns[c];
  }
}

TEST(Rollout, ThirtyTwoLayersOfUniformCausalAttentionEndAtBos) {
  const auto row = answer_row(kCausalMask, 32, Pooling::kSum);
  EXPECT_NEAR(row[0], 0.716, 5e-4);
  EXPECT_NEAR(row[1], 0.264, 5e-4);
  EXPECT_NEAR(row[2], 0.020, 5e-4);
  for (size_t r = 3; r < row.size(); ++r) EXPECT_LT(row[r], 5e-4);
}

TEST(Rollout, UniformBidirectionalAttentionGivesShares) {
  // Sum pooling: each region its share of the 1553 tokens; mean pooling: 1/13 each (spec 9.2, to 2^-32).
  const auto sum = answer_row(kFullMask, 32, Pooling::kSum), mean = answer_row(kFullMask, 32, Pooling::kMean);
  for (size_t r = 0; r < kLengths.size(); ++r) {
    EXPECT_NEAR(sum[r], static_cast<double>(kLengths[r]) / 1553, 1e-9);
    EXPECT_NEAR(mean[r], 1.0 / 13, 1e-9);
  }
}

TEST(UniformRegionMass, ScatteredRegionsByHand) {
  // Tokens a b a -, causal. Query 0 gives a 1; query 1 gives a and b 1/2; query 2 gives a 2/3 and b 1/3. The
  // last token is in no region: as a query it counts nowhere.
  const std::vector<std::int32_t> regions = {0, 1, 0, -1};
  const RegionMatrix causal = uniform_region_mass(regions, 2, kCausalMask);
  EXPECT_DOUBLE_EQ(causal.at(0, 0), 1 + 2.0 / 3);
  EXPECT_DOUBLE_EQ(causal.at(0, 1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(causal.at(1, 0), 0.5);
  EXPECT_DOUBLE_EQ(causal.at(1, 1), 0.5);
  // Bidirectional: every query gives each of the 4 keys 1/4, that in no region too.
  const RegionMatrix full = uniform_region_mass(regions, 2, kFullMask);
  EXPECT_DOUBLE_EQ(full.at(0, 0), 2 * 2.0 / 4);
  EXPECT_DOUBLE_EQ(full.at(1, 1), 1.0 / 4);
  // A prefix of two: query 0 gives a and b 1/2 each; the others are as causal ones.
  const RegionMatrix prefix = uniform_region_mass(regions, 2, prefix_mask(2));
  EXPECT_DOUBLE_EQ(prefix.at(0, 0), 0.5 + 2.0 / 3);
  EXPECT_DOUBLE_EQ(prefix.at(0, 1), 0.5 + 1.0 / 3);
  EXPECT_DOUBLE_EQ(prefix.at(1, 0), 0.5);
  EXPECT_EQ(uniform_region_mass(regions, 2, prefix_mask(0)).values, causal.values);
  EXPECT_EQ(uniform_region_mass(regions, 2, prefix_mask(4)).values, full.values);
}

TEST(Rollout, TruncationTakesTheLastLayersDeepestFirst) {
  // Two regions. Layer 0 swaps them, layer 1 stays: M0 = [[.5 .5][.5 .5]], M1 = I.
  RegionMatrix swap(2), stay(2);
  swap.at(0, 1) = swap.at(1, 0) = 1;
  stay.at(0, 0) = stay.at(1, 1) = 1;
  const std::vector<double> lengths = {1, 1};
  const std::vector<RegionMatrix> layers = {rollout_layer(swap, lengths, Pooling::kSum),
                                            rollout_layer(stay, lengths, Pooling::kSum)};
  const std::vector<std::int64_t> depths = {1, 2};
  const auto out = rollouts(layers, depths);
  EXPECT_DOUBLE_EQ(out[0].at(0, 0), 1);
  EXPECT_DOUBLE_EQ(out[1].at(0, 0), 0.5);
  EXPECT_DOUBLE_EQ(out[1].at(0, 1), 0.5);
}

}  // namespace
}  // namespace buoy::analysis

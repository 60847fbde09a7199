// Routers on the GPU against the reference in double of experts.h, and the pairs they sort. Numbers by the
// rule of error_ratio.h; the plain version computes in float.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "buoy/ops/experts/experts_cuda.h"
#include "ops/error_ratio.h"
#include "ops/references/routed_pairs.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using ops::RouterKind;
using ops::RouterRule;
using testing::choices;
using testing::Decided;
using testing::ErrorRatio;
using testing::Ids;
using testing::normal_numbers;
using testing::Sorted;
using testing::sorted_by_card;

// Its pairs are always sorted.
Decided decide(const RouterRule& rule, std::int64_t rows, std::int64_t parts,
               const std::vector<float>& logits, const std::vector<float>& bias) {
  const Sorted sorted(rows, rule.experts, rule.chosen);
  Decided found = testing::decide(rule, rows, parts, logits, bias, sorted);
  sorted.expect_as_on_the_cpu(found.experts);
  return found;
}

std::vector<RouterRule> rules() {
  return {{RouterKind::kSoftmax, 4, 2, false},
          {RouterKind::kSoftmax, 128, 8, true},
          {RouterKind::kSoftmax, 60, 4, false},
          {RouterKind::kSoftmax, 33, 32, true},
          {RouterKind::kSoftmax, 512, 10, true},
          {RouterKind::kSigmoidGroups, 8, 2, false, 4, 2, 2.5},
          {RouterKind::kSigmoidGroups, 256, 8, false, 8, 4, 2.5},
          {RouterKind::kSigmoidGroups, 384, 6, false, 4, 2, 1.0},
          {RouterKind::kSigmoidGroups, 192, 6, false, 2, 1, 1.0},
          {RouterKind::kSigmoidGroups, 66, 5, false, 3, 2, 1.0},
          {RouterKind::kSigmoidGroups, 64, 1, false, 32, 3, 1.5}};
}

TEST(RouteCuda, DecidesAsTheReference) {
  BUOY_NEEDS_GPU();
  for (const bool biased : {false, true}) {
    ErrorRatio weights, entropy;
    for (const RouterRule& rule : rules()) {
      for (const std::int64_t rows : {131, 32, 3}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(rule.experts) +
                     (biased ? " experts, bias" : " experts"));
        const auto logits = normal_numbers(1, rows * rule.experts, 2);
        const auto bias = biased ? normal_numbers(2, rule.experts, 0.1) : std::vector<float>();
        const Decided found = decide(rule, rows, 1, logits, bias);
        EXPECT_EQ(found.flag, 99);
        Ids experts(found.experts.size());
        std::vector<double> exact(experts.size()), exact_entropy(static_cast<size_t>(rows));
        for (std::int64_t row = 0; row < rows; ++row) {
          const std::vector<double> own(logits.begin() + row * rule.experts,
                                        logits.begin() + (row + 1) * rule.experts);
          ops::route_reference(rule, own.data(), biased ? bias.data() : nullptr,
                               {experts.data() + row * rule.chosen, exact.data() + row * rule.chosen,
                                exact_entropy.data() + row});
        }
        EXPECT_EQ(found.experts, experts);
        // Plain: what the CPU computes in float.
        Ids on_cpu(found.experts.size());
        std::vector<float> plain(on_cpu.size()), plain_entropy(static_cast<size_t>(rows));
        ThreadPool threads(1);
        ops::route({threads}, rule,
                   {logits.data(),
                    rows,
                    biased ? bias.data() : nullptr,
                    {on_cpu.data(), plain.data(), plain_entropy.data()}});
        weights.add(found.weights, plain, exact);
        entropy.add(found.entropy, plain_entropy, exact_entropy);
      }
    }
    weights.expect_at_most_twice("weights");
    entropy.expect_at_most_twice("entropy");
  }
}

TEST(RouteCuda, EqualLogitsGoToTheLowerExpert) {
  BUOY_NEEDS_GPU();
  for (const RouterRule& rule : rules()) {
    const Decided found =
        decide(rule, 2, 1, std::vector<float>(static_cast<size_t>(2 * rule.experts), 0.5f), {});
    for (std::int64_t row = 0; row < 2; ++row) {
      for (std::int64_t n = 0; n < rule.chosen; ++n)
        EXPECT_EQ(found.experts[static_cast<size_t>(row * rule.chosen + n)], n) << rule.experts;
    }
  }
}

TEST(RouteCuda, PartsAreSummed) {
  BUOY_NEEDS_GPU();
  const RouterRule rule{RouterKind::kSoftmax, 16, 3, true};
  const auto whole = normal_numbers(3, 5 * 16);
  std::vector<float> parts;
  for (size_t row = 0; row < 5; ++row) {
    for (size_t e = 0; e < 16; ++e) parts.push_back(whole[row * 16 + e] * 0.75f);
    for (size_t e = 0; e < 16; ++e) parts.push_back(whole[row * 16 + e] * 0.25f);
  }
  const Decided one = decide(rule, 5, 1, whole, {}), two = decide(rule, 5, 2, parts, {});
  EXPECT_EQ(one.experts, two.experts);
  for (size_t i = 0; i < one.weights.size(); ++i) EXPECT_NEAR(one.weights[i], two.weights[i], 1e-6);
}

TEST(RouteCuda, LogitsThatAreNotFiniteAreSaid) {
  BUOY_NEEDS_GPU();
  const RouterRule rule{RouterKind::kSoftmax, 8, 2, true};
  for (const float bad : {std::nanf(""), -std::nanf(""), -std::nanf("0x3fffff"), INFINITY, -INFINITY}) {
    for (const bool all : {false, true}) {
      auto logits = normal_numbers(4, 3 * 8);
      logits[13] = bad;
      if (all) std::fill(logits.begin() + 8, logits.begin() + 16, bad);
      const Decided found = decide(rule, 3, 1, logits, {});
      EXPECT_EQ(found.flag, 7);
      for (const auto expert : found.experts) EXPECT_TRUE(expert >= 0 && expert < 8);
      for (size_t row = 0; row < 3; ++row) EXPECT_NE(found.experts[2 * row], found.experts[2 * row + 1]);
    }
  }
}

// Around 32 rows, which one block sorts, and around what changes the number of blocks and of their rows.
TEST(SortPairsCuda, AsOnTheCpu) {
  BUOY_NEEDS_GPU();
  struct Case {
    std::int64_t rows, experts, chosen;
  };
  for (const Case& c :
       {Case{1, 4, 2},  {1, 128, 8},     {1, 512, 32},   {3, 64, 8},     {31, 256, 8},  {32, 128, 8},
        {32, 512, 32},  {33, 512, 32},   {40, 1, 1},     {64, 33, 8},    {65, 128, 8},  {128, 1, 1},
        {129, 3, 2},    {256, 2, 1},     {257, 1, 1},    {700, 8, 3},    {2048, 3, 1},  {2049, 1, 1},
        {1500, 128, 8}, {4096, 128, 8},  {4096, 256, 8}, {4999, 300, 7}, {8192, 16, 4}, {8193, 16, 4},
        {8193, 512, 2}, {16400, 128, 8}, {57344, 5, 2},  {57345, 5, 2},  {60000, 1, 1}, {70001, 9, 3}}) {
    SCOPED_TRACE(std::to_string(c.rows) + " rows, " + std::to_string(c.experts) + " experts, " +
                 std::to_string(c.chosen) + " chosen");
    const Ids routed = choices(c.rows, c.experts, c.chosen, 5);
    sorted_by_card(routed, c.experts, c.chosen).expect_as_on_the_cpu(routed);
  }
}

TEST(SortPairsCuda, FewerRowsNeedNoMoreCounts) {
  BUOY_NEEDS_GPU();
  for (std::int64_t rows = 1; rows < 70000; rows += 31) {
    EXPECT_LE(ops::pair_counts(rows, 7), ops::pair_counts(rows + 31, 7));
  }
}

// All rows choose the same experts, and each row the next ones.
TEST(SortPairsCuda, OneExpertForAllAndAllInTurn) {
  BUOY_NEEDS_GPU();
  for (const std::int64_t rows : {32, 33, 4096, 57345}) {
    for (const std::int64_t step : {0, 1}) {
      Ids routed;
      for (std::int64_t pair = 0; pair < 2 * rows; ++pair)
        routed.push_back(static_cast<std::int32_t>((pair / 2 * step + pair % 2) % 40));
      sorted_by_card(routed, 40, 2).expect_as_on_the_cpu(routed);
    }
  }
}

}  // namespace
}  // namespace buoy

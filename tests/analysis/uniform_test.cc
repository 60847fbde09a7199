#include "buoy/analysis/core/uniform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace buoy::analysis {
namespace {

TEST(Uniform, SharesSumToOne) {
  for (const Mask& mask : {kFullMask, kCausalMask, prefix_mask(1), prefix_mask(13), prefix_mask(28)}) {
    for (const std::int64_t tokens : {1, 2, 28, 4096}) {
      const auto share = uniform_received(mask, tokens);
      EXPECT_NEAR(std::accumulate(share.begin(), share.end(), 0.0), 1.0, 1e-12);
    }
  }
}

// docs/measurements.md 3: position 0, uniform causal.
TEST(Uniform, FloorsOfThePaper) {
  EXPECT_NEAR(uniform_received(kCausalMask, 28)[0], 0.140, 5e-4);
  EXPECT_NEAR(uniform_received(kCausalMask, 52)[0], 0.087, 5e-4);
  EXPECT_NEAR(uniform_received(kCausalMask, 84)[0], 0.060, 5e-4);
  EXPECT_DOUBLE_EQ(uniform_received(kFullMask, 52)[17], 1.0 / 52);
}

TEST(Uniform, QueriesFromAPositionOnEqualTheirOwnAverage) {
  // By hand: queries 1 and 2 of 3 give (1/2, 1/2, 0) and (1/3, 1/3, 1/3).
  const auto share = uniform_received_from(kCausalMask, 3, 1);
  EXPECT_DOUBLE_EQ(share[0], (1.0 / 2 + 1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(share[1], (1.0 / 2 + 1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(share[2], (1.0 / 3) / 2);
}

// Against the plain sum over queries and keys.
TEST(Uniform, APrefixIsSeenByAllAndTheRestIsCausal) {
  for (const std::int64_t tokens : {1, 2, 9, 40}) {
    for (const std::int64_t prefix : {std::int64_t{0}, std::int64_t{1}, tokens / 2, tokens}) {
      for (const std::int64_t first : {std::int64_t{0}, prefix / 2, tokens - 1}) {
        std::vector<double> expected(static_cast<size_t>(tokens), 0.0);
        for (std::int64_t i = first; i < tokens; ++i) {
          const auto sees = [&](std::int64_t j) { return j <= i || j < prefix; };
          double keys = 0;
          for (std::int64_t j = 0; j < tokens; ++j) keys += sees(j);
          for (std::int64_t j = 0; j < tokens; ++j)
            if (sees(j)) expected[static_cast<size_t>(j)] += 1 / keys / static_cast<double>(tokens - first);
        }
        const auto share = uniform_received_from(prefix_mask(prefix), tokens, first);
        for (size_t j = 0; j < share.size(); ++j)
          EXPECT_NEAR(share[j], expected[j], 1e-14) << prefix << " of " << tokens << ", from " << first;
      }
    }
  }
}

// Against the plain sum over queries and keys, by the rule of the mask itself.
TEST(Uniform, ABlockSeesItselfAndWhatStandsBefore) {
  for (const std::int64_t tokens : {1, 2, 9, 40}) {
    for (const std::int64_t block : {1, 3, 4, 64}) {
      for (const std::int64_t origin : {0, 2, 7}) {
        const auto number = [&](std::int64_t p) {
          return static_cast<std::int64_t>(
              std::floor(static_cast<double>(p - origin) / static_cast<double>(block)));
        };
        std::vector<double> expected(static_cast<size_t>(tokens), 0.0);
        for (std::int64_t i = 0; i < tokens; ++i) {
          double keys = 0;
          for (std::int64_t j = 0; j < tokens; ++j) keys += number(j) <= number(i);
          EXPECT_EQ(block_mask(block, origin).keys_of(i, tokens), static_cast<std::int64_t>(keys));
          for (std::int64_t j = 0; j < tokens; ++j) {
            if (number(j) <= number(i))
              expected[static_cast<size_t>(j)] += 1 / keys / static_cast<double>(tokens);
          }
        }
        const auto share = uniform_received(block_mask(block, origin), tokens);
        for (size_t j = 0; j < share.size(); ++j)
          EXPECT_NEAR(share[j], expected[j], 1e-14) << block << " from " << origin << " of " << tokens;
      }
    }
  }
  EXPECT_EQ(uniform_received(block_mask(1, 0), 40), uniform_received(kCausalMask, 40));
}

TEST(Uniform, APrefixOfNothingIsCausalAndOneOfEverythingIsFull) {
  EXPECT_EQ(uniform_received(prefix_mask(0), 40), uniform_received(kCausalMask, 40));
  EXPECT_EQ(uniform_received(prefix_mask(1), 40), uniform_received(kCausalMask, 40));
  const auto all = uniform_received(prefix_mask(40), 40), full = uniform_received(kFullMask, 40);
  for (size_t j = 0; j < all.size(); ++j) EXPECT_NEAR(all[j], full[j], 1e-16);
}

}  // namespace
}  // namespace buoy::analysis

// Samples go to shards by what they cost, alike in every process.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "buoy/shard/deal.h"

namespace buoy::shard {
namespace {

TEST(Deal, TheDearestGoFirstToWhoHasLeast) {
  EXPECT_EQ(deal({5, 1, 4, 2, 3}, 2), (std::vector<int>{0, 0, 1, 0, 1}));
  EXPECT_EQ(deal({7, 7, 7, 7}, 2), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(deal({}, 3), std::vector<int>{});
}

TEST(Deal, LoadsDifferByTheDearestSampleAtMost) {
  std::vector<std::uint64_t> costs(1000);
  std::iota(costs.begin(), costs.end(), std::uint64_t{17});
  const auto of = deal(costs, 7);
  std::vector<std::uint64_t> loads(7);
  for (std::size_t n = 0; n < costs.size(); ++n) loads[static_cast<std::size_t>(of[n])] += costs[n];
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  EXPECT_LE(*most - *least, costs.back());
}

TEST(Deal, EverySampleGoesToOneShard) {
  const auto of = deal({3, 1, 4, 1, 5, 9, 2, 6}, 3);
  std::vector<std::size_t> all;
  for (int shard = 0; shard < 3; ++shard) {
    const auto part = part_of(of, shard);
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Deal, CostGrowsWithThePromptAndTheForwards) {
  EXPECT_GT(expected_cost({200, 32, 32}), expected_cost({100, 32, 32}));
  EXPECT_GT(expected_cost({100, 32, 32}), expected_cost({100, 32, 16}));
  EXPECT_EQ(expected_cost({100, 32, 0}), 132U + 132U * 132U / 8192U);
}

}  // namespace
}  // namespace buoy::shard

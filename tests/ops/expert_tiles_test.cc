// How pairs are cut into the parts of thread blocks, and who takes which tile.

#include "buoy/ops/experts/expert_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace buoy {
namespace {

TEST(ExpertTiles, NobodyHasNoParts) {
  EXPECT_EQ(ops::share_expert(0, 16, 1).clusters, 0);
  EXPECT_EQ(ops::share_expert(0, 152, 2).clusters, 0);
}

TEST(ExpertTiles, PartsHoldAllPairsAndNoneIsTooWide) {
  for (const int most : {16, 64, 152}) {
    for (const int cluster : {1, 2}) {
      for (int pairs = 1; pairs < 5 * most * cluster; ++pairs) {
        SCOPED_TRACE(std::to_string(pairs) + " in " + std::to_string(cluster) + " of " +
                     std::to_string(most));
        const auto share = ops::share_expert(pairs, most, cluster);
        const int blocks = share.clusters * cluster;
        ASSERT_EQ(share.width % 8, 0);
        ASSERT_LE(share.width, most);
        ASSERT_GE(blocks * share.width, pairs);
        // As few clusters as can be, and less than eight pairs for each block too wide.
        ASSERT_LT((share.clusters - 1) * cluster * most, pairs);
        ASSERT_LT((share.width - 8) * blocks, pairs);
      }
    }
  }
}

TEST(ExpertTiles, ExamplesByHand) {
  // The widest that one cluster takes, and one more.
  EXPECT_EQ(ops::share_expert(304, 152, 2).clusters, 1);
  EXPECT_EQ(ops::share_expert(304, 152, 2).width, 152);
  EXPECT_EQ(ops::share_expert(305, 152, 2).clusters, 2);
  EXPECT_EQ(ops::share_expert(305, 152, 2).width, 80);
  EXPECT_EQ(ops::share_expert(256, 152, 2).width, 128);
  EXPECT_EQ(ops::share_expert(257, 152, 2).width, 136);
  EXPECT_EQ(ops::share_expert(1, 16, 1).width, 8);
}

TEST(ExpertTiles, EveryTileIsTakenOnce) {
  for (const int clusters : {1, 2, 7, 66}) {
    for (const int tiles : {0, 1, 5, 65, 66, 67, 131, 132, 133, 500}) {
      std::vector<int> taken;
      for (int cluster = 0; cluster < clusters; ++cluster) {
        const int turns = ops::turns_of(tiles, cluster, clusters);
        for (int turn = 0; turn < turns; ++turn) taken.push_back(ops::tile_of_turn(turn, cluster, clusters));
      }
      std::sort(taken.begin(), taken.end());
      std::vector<int> all(static_cast<size_t>(tiles));
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(taken, all) << tiles << " tiles, " << clusters << " clusters";
    }
  }
}

TEST(ExpertTiles, TilesOfFallingSizeAreSharedEvenly) {
  constexpr int kTiles = 12 * 66, kClusters = 66;
  std::vector<int> sums;
  for (int cluster = 0; cluster < kClusters; ++cluster) {
    int sum = 0;
    for (int turn = 0; turn < ops::turns_of(kTiles, cluster, kClusters); ++turn)
      sum += kTiles - ops::tile_of_turn(turn, cluster, kClusters);
    sums.push_back(sum);
  }
  EXPECT_EQ(*std::min_element(sums.begin(), sums.end()), *std::max_element(sums.begin(), sums.end()));
}

}  // namespace
}  // namespace buoy

// How pairs are cut into the parts of thread blocks, and who takes which tile.

#include "buoy/ops/experts/expert_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
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

// Tiles of the deal, those of each cluster in its turns.
std::vector<int> dealt(const ops::TileDeal& deal) {
  std::vector<int> taken;
  for (int cluster = 0; cluster < deal.clusters; ++cluster) {
    const int turns = deal.turns(cluster);
    for (int turn = 0; turn < turns; ++turn) taken.push_back(deal.tile(turn, cluster));
    for (int turn = turns; turn < turns + 3; ++turn) EXPECT_EQ(deal.tile(turn, cluster), deal.tiles);
  }
  return taken;
}

TEST(TileDeal, EveryTileIsTakenOnce) {
  for (const int clusters : {1, 2, 3, 7, 66, 132}) {
    for (int tiles = 0; tiles < 5 * clusters + 3; ++tiles) {
      const int others = ops::TileDeal{tiles, clusters, 0}.window();
      std::vector<int> all(static_cast<size_t>(tiles));
      std::iota(all.begin(), all.end(), 0);
      for (int first = 0; first <= tiles - others; first += clusters < 10 ? 1 : 13) {
        std::vector<int> taken = dealt({tiles, clusters, first});
        std::sort(taken.begin(), taken.end());
        ASSERT_EQ(taken, all) << tiles << " tiles, " << clusters << " clusters, window from " << first;
      }
    }
  }
}

TEST(TileDeal, WholeTurnsAreDealtAsEver) {
  for (const int turns : {0, 1, 2, 15}) {
    for (int cluster = 0; cluster < 66; ++cluster) {
      const auto deal = ops::tile_deal(66 * turns, 66, 31);
      ASSERT_EQ(deal.turns(cluster), ops::turns_of(66 * turns, cluster, 66));
      for (int turn = 0; turn < turns; ++turn)
        ASSERT_EQ(deal.tile(turn, cluster), ops::tile_of_turn(turn, cluster, 66));
    }
  }
}

TEST(TileDeal, ExampleByHand) {
  // Seven tiles for three clusters: the first takes three, the others two of those from 2 on.
  const ops::TileDeal deal{7, 3, 2};
  EXPECT_EQ(dealt(deal), (std::vector<int>{0, 1, 6, 2, 5, 3, 4}));
  // The first has 4 and 4 and 1, the others 4 and 2, 3 and 2.
  const int before[] = {0, 4, 8, 12, 15, 17, 19, 20};
  EXPECT_EQ(ops::largest_load(deal, [&](int tile) { return before[tile]; }), 9);
  EXPECT_EQ(ops::largest_load({7, 3, 0}, [&](int tile) { return before[tile]; }), 7.5);
}

TEST(TileDeal, WindowsReachFromEndToEnd) {
  for (const int tiles : {0, 3, 66, 100, 1024, 7'000'000}) {
    int last = 0;
    for (int i = 0; i < ops::kTileDeals; ++i) {
      const auto deal = ops::tile_deal(tiles, 66, i);
      ASSERT_GE(deal.first, last);
      ASSERT_LE(deal.first + deal.window(), tiles);
      last = deal.first;
    }
    EXPECT_EQ(ops::tile_deal(tiles, 66, 0).first, 0);
    EXPECT_EQ(last, tiles % 66 * (tiles / 66 + 1));
  }
}

// What tiles cost, the widest first, as a GPU's blocks work it out.
struct Costs {
  std::vector<int> widths;
  std::vector<std::int64_t> before = {0};

  Costs(const std::vector<int>& pairs, int cluster, int weight_tiles) {
    for (const int count : pairs) {
      const auto share = ops::share_expert(count, 152, cluster);
      widths.insert(widths.end(), static_cast<size_t>(share.clusters * weight_tiles), share.width);
    }
    std::sort(widths.begin(), widths.end(), std::greater<>());
    for (const int width : widths) before.push_back(before.back() + ops::cost_of_tile(width));
  }
  int tiles() const { return static_cast<int>(widths.size()); }
  std::int64_t of(int tile) const {
    const auto at = static_cast<size_t>(tile);
    return before[at + 1] - before[at];
  }
  double mean(int clusters) const { return static_cast<double>(before.back()) / clusters; }
  ops::TileDeal choose(int clusters) const {
    const auto load = [&](int candidate) {
      return ops::largest_load(ops::tile_deal(tiles(), clusters, candidate),
                               [&](int tile) { return before[static_cast<size_t>(tile)]; });
    };
    int best = 0;
    for (int i = 1; i < ops::kTileDeals; ++i) {
      if (load(i) < load(best)) best = i;
    }
    return ops::tile_deal(tiles(), clusters, best);
  }
  std::int64_t largest(const ops::TileDeal& deal) const {
    std::int64_t most = 0;
    for (int cluster = 0; cluster < deal.clusters; ++cluster) {
      std::int64_t load = 0;
      for (int turn = 0; turn < deal.turns(cluster); ++turn) load += of(deal.tile(turn, cluster));
      most = std::max(most, load);
    }
    return most;
  }
  std::int64_t largest_in_turns(int clusters) const {
    std::int64_t most = 0;
    for (int cluster = 0; cluster < clusters; ++cluster) {
      std::int64_t load = 0;
      for (int turn = 0; turn < ops::turns_of(tiles(), cluster, clusters); ++turn)
        load += of(ops::tile_of_turn(turn, cluster, clusters));
      most = std::max(most, load);
    }
    return most;
  }
};

std::vector<int> random_pairs(int experts, int pairs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int> counts(static_cast<size_t>(experts));
  for (int i = 0; i < pairs; ++i) ++counts[random() % counts.size()];
  return counts;
}

TEST(TileDeal, RandomLoadsAreSharedEvenly) {
  struct Case {
    int cluster, clusters, experts, weight_tiles;
    double in_turns;  // what the busiest cluster has above the mean where tiles are dealt in turns
  };
  for (const Case& c : {Case{2, 66, 128, 8, 0.025}, Case{2, 66, 128, 6, 0.025}, Case{1, 132, 256, 8, 0.015},
                        Case{1, 132, 256, 6, 0.015}}) {
    constexpr int kLoads = 200;
    double sum = 0, sum_in_turns = 0;
    int worse = 0;
    for (std::uint64_t seed = 0; seed < kLoads; ++seed) {
      const Costs costs(random_pairs(c.experts, 32'768, seed), c.cluster, c.weight_tiles);
      const auto most = costs.largest(costs.choose(c.clusters)),
                 in_turns = costs.largest_in_turns(c.clusters);
      sum += static_cast<double>(most) / costs.mean(c.clusters) - 1;
      sum_in_turns += static_cast<double>(in_turns) / costs.mean(c.clusters) - 1;
      if (most > in_turns) ++worse;
      EXPECT_LE(static_cast<double>(most), 1.03 * costs.mean(c.clusters)) << "load " << seed;
    }
    EXPECT_LE(worse, kLoads / 20);  // by chance turns come out evener
    EXPECT_LE(sum / kLoads, 0.015);
    EXPECT_GE(sum_in_turns / kLoads, c.in_turns);
    RecordProperty("above_mean", std::to_string(sum / kLoads));
  }
}

TEST(TileDeal, LoadsOfFewExperts) {
  for (const int cluster : {1, 2}) {
    const int clusters = 132 / cluster;
    const auto expect_as_in_turns = [&](const std::vector<int>& pairs) {
      const Costs costs(pairs, cluster, 8);
      const auto deal = costs.choose(clusters);
      EXPECT_EQ(dealt(deal).size(), costs.widths.size());
      EXPECT_EQ(costs.largest(deal), costs.largest_in_turns(clusters));
    };
    std::vector<int> pairs(128, 0);
    expect_as_in_turns(pairs);  // nobody has any
    pairs[77] = 1;
    expect_as_in_turns(pairs);  // fewer tiles than clusters
    pairs[77] = 32'768;
    expect_as_in_turns(pairs);  // tiles of one width
    // Most have none.
    pairs[77] = 300;
    for (const int e : {3, 50, 100, 101, 127}) pairs[static_cast<size_t>(e)] = 2 * e + 1;
    const Costs costs(pairs, cluster, 8);
    EXPECT_LE(costs.largest(costs.choose(clusters)), costs.largest_in_turns(clusters));
  }
}

}  // namespace
}  // namespace buoy

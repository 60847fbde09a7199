// How the work of grouped products is cut: pairs of a row and an expert into parts for thread blocks, tiles
// among clusters of blocks.

#pragma once

#ifdef __CUDACC__
#define BUOY_ON_BOTH __host__ __device__
#else
#define BUOY_ON_BOTH
#endif

namespace buoy::ops {

// An expert's pairs are shared among `clusters` clusters of blocks, evenly: `width` pairs, a multiple of
// eight, for each of the blocks, the last of which get what is left, or nothing.
struct ExpertShare {
  int clusters, width;
};
// Of blocks that take at most `most` pairs (a multiple of eight), `cluster` of them in a cluster.
BUOY_ON_BOTH constexpr ExpertShare share_expert(int pairs, int most, int cluster) {
  const int clusters = (pairs + most * cluster - 1) / (most * cluster), blocks = clusters * cluster;
  if (blocks == 0) return {0, 0};
  return {clusters, ((pairs + blocks - 1) / blocks + 7) / 8 * 8};
}

// Clusters take tiles in turns, every second time in the opposite order: where tiles come the largest first,
// everybody gets about as much.
BUOY_ON_BOTH constexpr int tile_of_turn(int turn, int cluster, int clusters) {
  return turn * clusters + (turn % 2 == 0 ? cluster : clusters - 1 - cluster);
}
// How many of `tiles` tiles a cluster takes.
BUOY_ON_BOTH constexpr int turns_of(int tiles, int cluster, int clusters) {
  const int whole = tiles / clusters;
  return whole + (tile_of_turn(whole, cluster, clusters) < tiles ? 1 : 0);
}

// Where the number of tiles is no multiple of that of clusters, some take one more than the others. The
// others' tiles lie together, and `first` is where they begin: tiles come the largest first, so it says how
// large.
struct TileDeal {
  int tiles, clusters, first;

  BUOY_ON_BOTH constexpr int fewest() const { return tiles / clusters; }
  // Clusters that take one more: those in front.
  BUOY_ON_BOTH constexpr int busier() const { return tiles % clusters; }
  // The tiles of all others.
  BUOY_ON_BOTH constexpr int window() const { return (clusters - busier()) * fewest(); }

  BUOY_ON_BOTH constexpr int turns(int cluster) const { return fewest() + (cluster < busier() ? 1 : 0); }
  // The tile that a cluster takes then; `tiles` where it has none left.
  BUOY_ON_BOTH constexpr int tile(int turn, int cluster) const {
    if (turn >= turns(cluster)) return tiles;
    const int more = busier();
    if (cluster >= more) return first + tile_of_turn(turn, cluster - more, clusters - more);
    const int place = tile_of_turn(turn, cluster, more);
    return place < first ? place : place + window();
  }
};

// What a tile of so many pairs to a block costs, in columns. Its results leave while the tensor cores wait:
// that takes about as long as this many columns.
inline constexpr int kColumnsOfResults = 16;
BUOY_ON_BOTH constexpr int cost_of_tile(int width) {
  return width + kColumnsOfResults;
}

// Deals to choose from: windows that begin evenly spaced, from the largest tiles to the smallest.
inline constexpr int kTileDeals = 32;
BUOY_ON_BOTH constexpr TileDeal tile_deal(int tiles, int clusters, int candidate) {
  TileDeal deal{tiles, clusters, 0};
  deal.first = static_cast<int>(static_cast<long long>(tiles - deal.window()) * candidate / (kTileDeals - 1));
  return deal;
}
// What the clusters that have most take, on average: cost_before(tile) is what all tiles before that one
// cost.
template <typename CostBefore>
BUOY_ON_BOTH constexpr float largest_load(const TileDeal& deal, const CostBefore& cost_before) {
  const int more = deal.busier(), others = deal.clusters - more, end = deal.first + deal.window();
  const auto inside = cost_before(end) - cost_before(deal.first), all = cost_before(deal.tiles);
  const float of_others = static_cast<float>(inside) / static_cast<float>(others);
  if (more == 0) return of_others;
  const float of_busier = static_cast<float>(all - inside) / static_cast<float>(more);
  return of_busier > of_others ? of_busier : of_others;
}

}  // namespace buoy::ops

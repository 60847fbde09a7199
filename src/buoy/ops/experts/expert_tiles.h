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

// Who takes which of a product's tiles, where some clusters may begin before the others: the first `early` of
// them take `ahead` tiles each, the first of all, and the rest is taken in turns by all, in a mirror where
// the last turn would be theirs.
struct TileTurns {
  int clusters, early, ahead;
  bool mirrored;
  BUOY_ON_BOTH constexpr int in_turn(int cluster) const {
    return mirrored ? clusters - 1 - cluster : cluster;
  }
  BUOY_ON_BOTH constexpr int tile(int turn, int cluster) const {
    const int own = cluster < early ? ahead : 0;
    if (turn < own) return turn * early + cluster;
    return early * ahead + tile_of_turn(turn - own, in_turn(cluster), clusters);
  }
  // How many of the first `tiles` tiles a cluster takes.
  BUOY_ON_BOTH constexpr int turns(int tiles, int cluster) const {
    int count = 0;
    if (cluster < early) {
      while (count < ahead && count * early + cluster < tiles) ++count;
    }
    const int rest = tiles - early * ahead;
    return rest <= 0 ? count : count + turns_of(rest, in_turn(cluster), clusters);
  }
};

// For `tiles` tiles behind a product of `before` tiles, each as long as `ahead` of these: clusters that have
// no tile in its last turn begin early.
BUOY_ON_BOTH constexpr TileTurns turns_behind(int before, int ahead, int tiles, int clusters) {
  const int busy = before % clusters, early = busy == 0 ? 0 : clusters - busy;
  const int rest = tiles - early * ahead;
  return {clusters, early, ahead, early > 0 && rest > 0 && (rest - 1) / clusters % 2 == 0};
}
// How many tiles belong to turns before the last one.
BUOY_ON_BOTH constexpr int tiles_before_last_turn(int tiles, int clusters) {
  return tiles == 0 ? 0 : (tiles - 1) / clusters * clusters;
}

}  // namespace buoy::ops

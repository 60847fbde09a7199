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

}  // namespace buoy::ops

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace buoy::analysis {

// Attention received in one forward and layer, as shares: every vector over keys sums to one.
struct Received {
  std::int64_t heads = 0, tokens = 0;
  std::vector<double> share;  // [heads, tokens], mean over all queries
  std::vector<double> mean;   // [tokens], mean over the heads: what the paper uses

  const double* head(std::int64_t h) const { return share.data() + h * tokens; }
  // Of a head, or of the mean over heads where it is -1.
  std::span<const double> of(std::int64_t h) const {
    return {h < 0 ? mean.data() : head(h), static_cast<size_t>(tokens)};
  }
};

// What it is made of: sums over the queries of each group.
struct ReceivedSums {
  std::span<const float> sums;                // [groups, heads, tokens]
  std::span<const std::int32_t> group_sizes;  // [groups]: queries
  std::span<const std::int64_t> groups;       // those to add up
  std::int64_t heads, tokens;
};

// Zeros when there is no query in the groups.
void fill_received(const ReceivedSums& from, Received& out);

}  // namespace buoy::analysis

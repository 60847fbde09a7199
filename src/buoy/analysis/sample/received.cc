#include "buoy/analysis/sample/received.h"

#include <algorithm>

#include "buoy/base/error.h"

namespace buoy::analysis {

void fill_received(const ReceivedSums& from, Received& out) {
  const std::int64_t heads = from.heads, tokens = from.tokens, size = heads * tokens;
  BUOY_CHECK(static_cast<std::int64_t>(from.sums.size()) ==
             static_cast<std::int64_t>(from.group_sizes.size()) * size);
  out.heads = heads;
  out.tokens = tokens;
  out.share.resize(static_cast<size_t>(size));
  out.mean.assign(static_cast<size_t>(tokens), 0.0);
  double queries = 0;
  for (const auto group : from.groups) queries += from.group_sizes[static_cast<size_t>(group)];
  double* mean = out.mean.data();
  // Head by head, so that sums stay close while the groups are added.
  for (std::int64_t h = 0; h < heads; ++h) {
    double* share = out.share.data() + h * tokens;
    std::fill_n(share, tokens, 0.0);
    if (queries <= 0) continue;
    for (const auto group : from.groups) {
      const float* sums = from.sums.data() + group * size + h * tokens;
      for (std::int64_t j = 0; j < tokens; ++j) share[j] += sums[j];
    }
    for (std::int64_t j = 0; j < tokens; ++j) share[j] /= queries;
    for (std::int64_t j = 0; j < tokens; ++j) mean[j] += share[j] / static_cast<double>(heads);
  }
}

}  // namespace buoy::analysis

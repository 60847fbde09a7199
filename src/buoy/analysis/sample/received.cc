#include "buoy/analysis/sample/received.h"

#include "buoy/base/error.h"

namespace buoy::analysis {

void fill_received(const ReceivedSums& from, Received& out) {
  const std::int64_t heads = from.heads, tokens = from.tokens, size = heads * tokens;
  BUOY_CHECK(static_cast<std::int64_t>(from.sums.size()) ==
             static_cast<std::int64_t>(from.group_sizes.size()) * size);
  out.heads = heads;
  out.tokens = tokens;
  out.share.assign(static_cast<size_t>(size), 0.0);
  out.mean.assign(static_cast<size_t>(tokens), 0.0);
  double queries = 0;
  for (const auto group : from.groups) {
    queries += from.group_sizes[static_cast<size_t>(group)];
    const float* sums = from.sums.data() + group * size;
    double* share = out.share.data();
    for (std::int64_t i = 0; i < size; ++i) share[i] += sums[i];
  }
  if (queries <= 0) return;
  double* mean = out.mean.data();
  for (std::int64_t h = 0; h < heads; ++h) {
    double* share = out.share.data() + h * tokens;
    for (std::int64_t j = 0; j < tokens; ++j) share[j] /= queries;
    for (std::int64_t j = 0; j < tokens; ++j) mean[j] += share[j] / static_cast<double>(heads);
  }
}

}  // namespace buoy::analysis

#include "buoy/analysis/core/uniform.h"

#include <algorithm>

namespace buoy::analysis {

std::vector<double> uniform_received(const Mask& mask, std::int64_t tokens) {
  return uniform_received_from(mask, tokens, 0);
}

std::vector<double> uniform_received_from(const Mask& mask, std::int64_t tokens, std::int64_t first) {
  return uniform_received_between(mask, tokens, first, tokens);
}

std::vector<double> uniform_received_between(const Mask& mask, std::int64_t tokens, std::int64_t first,
                                             std::int64_t end) {
  const auto queries = static_cast<double>(end - first);
  std::vector<double> share(static_cast<size_t>(tokens), 1.0 / static_cast<double>(tokens));
  if (!mask.causal) return share;
  // Every query gives one over the keys it sees to each of them; summed from the last query down, small terms
  // first. A key receives the sum of the queries that see it.
  std::vector<double> from(static_cast<size_t>(tokens) + 1, 0.0);
  for (std::int64_t i = tokens - 1; i >= 0; --i) {
    const double given = i >= first && i < end ? 1.0 / static_cast<double>(mask.keys_of(i, tokens)) : 0.0;
    from[static_cast<size_t>(i)] = from[static_cast<size_t>(i) + 1] + given;
  }
  for (std::int64_t j = 0; j < tokens; ++j)
    share[static_cast<size_t>(j)] = from[static_cast<size_t>(mask.first_query_of(j))] / queries;
  return share;
}

std::vector<double> seen_between(const Mask& mask, std::int64_t tokens, std::int64_t first,
                                 std::int64_t end) {
  std::vector<double> seen(static_cast<size_t>(tokens));
  for (std::int64_t j = 0; j < tokens; ++j) {
    const std::int64_t queries = std::max<std::int64_t>(0, end - std::max(first, mask.first_query_of(j)));
    seen[static_cast<size_t>(j)] = static_cast<double>(queries) / static_cast<double>(end - first);
  }
  return seen;
}

// What a query sees depends on its place alone, not on which others ran; a row ends where its keys do.
std::vector<double> uniform_received(const Reach& reach) {
  return uniform_received_between(reach, reach.first, reach.end);
}

std::vector<double> uniform_received_between(const Reach& reach, std::int64_t first, std::int64_t end) {
  return uniform_received_between(reach.mask, reach.end, first, end);
}

std::vector<double> seen_between(const Reach& reach, std::int64_t first, std::int64_t end) {
  return seen_between(reach.mask, reach.end, first, end);
}

}  // namespace buoy::analysis

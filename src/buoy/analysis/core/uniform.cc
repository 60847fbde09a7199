#include "buoy/analysis/core/uniform.h"

#include <algorithm>

namespace buoy::analysis {

std::vector<double> uniform_received(bool causal, std::int64_t tokens) {
  return uniform_received_from(causal, tokens, 0);
}

std::vector<double> uniform_received_from(bool causal, std::int64_t tokens, std::int64_t first) {
  return uniform_received_between(causal, tokens, first, tokens);
}

std::vector<double> uniform_received_between(bool causal, std::int64_t tokens, std::int64_t first,
                                             std::int64_t end) {
  const auto queries = static_cast<double>(end - first);
  std::vector<double> share(static_cast<size_t>(tokens), 1.0 / static_cast<double>(tokens));
  if (!causal) return share;
  // Query i gives 1/(i+1) to each key up to itself; summed from the last query down, small terms first.
  double sum = 0;
  for (std::int64_t j = tokens - 1; j >= 0; --j) {
    if (j >= first && j < end) sum += 1.0 / static_cast<double>(j + 1);
    share[static_cast<size_t>(j)] = sum / queries;
  }
  return share;
}

std::vector<double> seen_from(bool causal, std::int64_t tokens, std::int64_t first) {
  std::vector<double> seen(static_cast<size_t>(tokens), 1.0);
  if (!causal) return seen;
  for (std::int64_t j = first; j < tokens; ++j)
    seen[static_cast<size_t>(j)] = static_cast<double>(tokens - j) / static_cast<double>(tokens - first);
  return seen;
}

}  // namespace buoy::analysis

#include "buoy/analysis/rollout/token_rollout.h"

#include <numeric>

namespace buoy::analysis {

std::vector<double> rolled(std::span<const double> at, std::span<const float> weights) {
  const size_t tokens = at.size();
  std::vector<double> out(tokens, 0.0);
  for (size_t i = 0; i < tokens; ++i) {
    const auto row = weights.subspan(i * tokens, tokens);
    const double total = std::accumulate(row.begin(), row.end(), 0.0);
    if (at[i] == 0) continue;
    out[i] += at[i] / (total > 0 ? 2 : 1);
    for (size_t j = 0; j < tokens && total > 0; ++j) out[j] += at[i] * row[j] / total / 2;
  }
  return out;
}

std::vector<double> rolled_evenly(std::span<const double> at, const Mask& mask) {
  const auto tokens = std::ssize(at);
  std::vector<double> out(at.size(), 0.0);
  for (std::int64_t i = 0; i < tokens; ++i) {
    const double own = at[static_cast<size_t>(i)];
    const std::int64_t keys = mask.keys_of(i, tokens);
    out[static_cast<size_t>(i)] += own / 2;
    for (std::int64_t j = 0; j < keys; ++j)
      out[static_cast<size_t>(j)] += own / 2 / static_cast<double>(keys);
  }
  return out;
}

}  // namespace buoy::analysis

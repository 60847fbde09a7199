#include "buoy/observe/contribution.h"

#include <algorithm>

namespace buoy::observe {

std::vector<float> contribution(const ContributionInput& in) {
  const std::int64_t heads_per_kv = in.heads / in.kv_heads;
  std::vector<float> out(static_cast<size_t>(in.heads * in.tokens));
  std::vector<double> sums(static_cast<size_t>(in.tokens));
  for (std::int64_t h = 0; h < in.heads; ++h) {
    // Group by group: keys of all groups at once would lie a power of two apart and push each other out.
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t g = 0; g < in.groups; ++g) {
      const float* received = in.received.data() + (g * in.heads + h) * in.tokens;
      for (std::int64_t j = 0; j < in.tokens; ++j) sums[static_cast<size_t>(j)] += received[j];
    }
    const float* norms = in.value_norm.data() + h / heads_per_kv * in.tokens;
    float* to = out.data() + h * in.tokens;
    for (std::int64_t j = 0; j < in.tokens; ++j)
      to[j] = static_cast<float>(sums[static_cast<size_t>(j)] * norms[j]);
  }
  return out;
}

}  // namespace buoy::observe

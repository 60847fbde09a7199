#include "buoy/observe/contribution.h"

namespace buoy::observe {

std::vector<float> contribution(const ContributionInput& in) {
  const std::int64_t heads_per_kv = in.heads / in.kv_heads;
  std::vector<float> out(static_cast<size_t>(in.heads * in.tokens));
  for (std::int64_t h = 0; h < in.heads; ++h) {
    const float* norms = in.value_norm.data() + h / heads_per_kv * in.tokens;
    for (std::int64_t j = 0; j < in.tokens; ++j) {
      double sum = 0;
      for (std::int64_t g = 0; g < in.groups; ++g)
        sum += in.received[static_cast<size_t>((g * in.heads + h) * in.tokens + j)];
      out[static_cast<size_t>(h * in.tokens + j)] = static_cast<float>(sum * norms[j]);
    }
  }
  return out;
}

}  // namespace buoy::observe

#include "buoy/observe/region_mass.h"

namespace buoy::observe {

std::vector<float> mass_of_regions(std::span<const float> values,
                                   std::span<const std::uint8_t> region_of_token, std::int64_t regions) {
  const size_t tokens = region_of_token.size(), count = static_cast<size_t>(regions);
  const size_t rows = values.size() / tokens;
  std::vector<float> mass;
  mass.reserve(rows * count);
  std::vector<double> sums(count);
  for (size_t row = 0; row < rows; ++row) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (size_t j = 0; j < tokens; ++j) {
      if (region_of_token[j] < count) sums[region_of_token[j]] += values[row * tokens + j];
    }
    mass.insert(mass.end(), sums.begin(), sums.end());
  }
  return mass;
}

std::vector<float> mass_of_flagged(std::span<const float> values, std::span<const std::uint8_t> flags) {
  const size_t tokens = flags.size();
  std::vector<float> mass;
  for (size_t row = 0; row * tokens < values.size(); ++row) {
    double sum = 0;
    for (size_t j = 0; j < tokens; ++j) {
      if (flags[j] != 0) sum += values[row * tokens + j];
    }
    mass.push_back(static_cast<float>(sum));
  }
  return mass;
}

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

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace buoy::observe {

// Sums the last dimension of [rows, tokens] over regions: [rows, regions]. Tokens in no region are left out.
std::vector<float> mass_of_regions(std::span<const float> values,
                                   std::span<const std::uint8_t> region_of_token, std::int64_t regions);

// Sums it over the flagged tokens: [rows].
std::vector<float> mass_of_flagged(std::span<const float> values, std::span<const std::uint8_t> flags);

// [heads, tokens]: received attention, all groups of [groups, heads, tokens] together, times the length of
// the key's value vector, [kv_heads, tokens].
struct ContributionInput {
  std::span<const float> received, value_norm;
  std::int64_t groups, heads, kv_heads, tokens;
};
std::vector<float> contribution(const ContributionInput& input);

}  // namespace buoy::observe

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace buoy::observe {

// [heads, tokens]: received attention, all groups of [groups, heads, tokens] together, times the length of
// the key's value vector, [kv_heads, tokens].
struct ContributionInput {
  std::span<const float> received, value_norm;
  std::int64_t groups, heads, kv_heads, tokens;
};
std::vector<float> contribution(const ContributionInput& input);

}  // namespace buoy::observe

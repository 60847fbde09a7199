#pragma once

#include <cstdint>

namespace buoy::analysis {

inline constexpr const char* kThirds[] = {"shallow third", "middle third", "deep third"};

// Which third of the depth a layer is in: 0, 1 or 2. Thirds begin at L/3 and 2L/3 rounded down, as in the
// published tables (32 layers: 0-9, 10-20, 21-31).
constexpr std::int64_t third_of_layer(std::int64_t layer, std::int64_t layers) {
  return layer < layers / 3 ? 0 : layer < 2 * layers / 3 ? 1 : 2;
}

// From 0 (first layer) to 1 (last).
constexpr double relative_depth(std::int64_t layer, std::int64_t layers) {
  return layers > 1 ? static_cast<double>(layer) / static_cast<double>(layers - 1) : 0.0;
}

}  // namespace buoy::analysis

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "buoy/base/random.h"

namespace buoy::stats {

// Calls `use(item)` for each of the `items` draws, with replacement, of one table in one resample.
template <typename Use>
void draw_items(std::uint64_t seed, std::array<std::uint32_t, 2> table_and_resample, std::uint32_t items,
                const Use& use) {
  const auto [table, resample] = table_and_resample;
  for (std::uint32_t first = 0; first < items; first += 4) {
    const auto words =
        philox(seed, {first / 4, table, resample, static_cast<std::uint32_t>(DrawStream::kBootstrap)});
    for (std::uint32_t i = 0; i < std::min(4u, items - first); ++i) {
      use(static_cast<std::size_t>(std::uint64_t{words[i]} * items >> 32));
    }
  }
}

}  // namespace buoy::stats

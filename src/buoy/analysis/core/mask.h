#pragma once

#include <algorithm>
#include <cstdint>

namespace buoy::analysis {

// Which keys a query sees, in a row of known length. What a query sees, all later ones see too.
struct Mask {
  bool causal = false;      // a query sees no key behind itself ...
  std::int64_t prefix = 0;  // ... but those of the first `prefix` positions
  std::int64_t block = 1;   // ... and those of its own block, of which one begins at `origin`
  std::int64_t origin = 0;

  // Query `query` sees the keys below this.
  std::int64_t keys_of(std::int64_t query, std::int64_t tokens) const {
    return causal ? std::min(tokens, std::max(first_of_block(query) + block, prefix)) : tokens;
  }
  // The first query that sees a key; all later ones do.
  std::int64_t first_query_of(std::int64_t key) const {
    return causal && key >= prefix ? std::max<std::int64_t>(0, first_of_block(key)) : 0;
  }

  bool operator==(const Mask&) const = default;

 private:
  // Negative where the first block has begun before the row.
  std::int64_t first_of_block(std::int64_t position) const {
    return position - (((position - origin) % block) + block) % block;
  }
};

inline constexpr Mask kFullMask{false, 0}, kCausalMask{true, 0};

inline Mask prefix_mask(std::int64_t length) {
  return {true, length};
}

inline Mask block_mask(std::int64_t block, std::int64_t origin) {
  return {true, 0, block, origin};
}

}  // namespace buoy::analysis

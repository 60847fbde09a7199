#pragma once

#include <algorithm>
#include <cstdint>

namespace buoy::analysis {

// Which keys a query sees, in a row of known length. What a query sees, all later ones see too.
struct Mask {
  bool causal = false;      // a query sees no key behind itself ...
  std::int64_t prefix = 0;  // ... but those of the first `prefix` positions

  // Query `query` sees the keys below this.
  std::int64_t keys_of(std::int64_t query, std::int64_t tokens) const {
    return causal ? std::min(tokens, std::max(query + 1, prefix)) : tokens;
  }
  // The first query that sees a key; all later ones do.
  std::int64_t first_query_of(std::int64_t key) const { return causal && key >= prefix ? key : 0; }

  bool operator==(const Mask&) const = default;
};

inline constexpr Mask kFullMask{false, 0}, kCausalMask{true, 0};

inline Mask prefix_mask(std::int64_t length) {
  return {true, length};
}

}  // namespace buoy::analysis

#pragma once

#include <algorithm>
#include <cstdint>

#include "buoy/analysis/core/mask.h"

namespace buoy::analysis {

// Which queries one forward ran, and which keys they see: the queries [first, end) over the keys [0, end).
// Keys behind `end` do not exist yet.
struct Reach {
  Mask mask;
  std::int64_t first = 0, end = 0;

  std::int64_t queries() const { return end - first; }
  bool ran(std::int64_t query) const { return query >= first && query < end; }
  // Query `query` sees the keys below this.
  std::int64_t keys_of(std::int64_t query) const { return mask.keys_of(query, end); }
  // The first query that ran and sees the key, as all later ones do; `end`: none does.
  std::int64_t first_query_of(std::int64_t key) const {
    return key < end ? std::clamp(mask.first_query_of(key), first, end) : end;
  }

  bool operator==(const Reach&) const = default;
};

inline Reach whole_row(const Mask& mask, std::int64_t tokens) {
  return {mask, 0, tokens};
}

}  // namespace buoy::analysis

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/text/tokenizer/vocabulary.h"

namespace buoy::text {

struct Merge {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t rank = kNone;  // lower merges first
  std::int32_t result = -1;
};

// Which adjacent tokens join, in which order, and into what.
class MergeTable {
 public:
  explicit MergeTable(size_t expected_merges);

  // The next merge in order of rank. InputError when a part or the result is not in the vocabulary or the
  // pair was there before; `file` is named in it.
  void add(const Vocabulary& vocabulary, std::string_view left, std::string_view right,
           const std::string& file);

  size_t size() const { return size_; }
  Merge find(std::int32_t left, std::int32_t right) const {
    const std::uint64_t key = pair_key(left, right);
    for (size_t slot = first_slot(key);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot].key == key) return slots_[slot].merge;
      if (slots_[slot].key == kFree) return {};
    }
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kFree;
    Merge merge;
  };

  static std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  }
  size_t first_slot(std::uint64_t key) const { return key * 0x9E3779B97F4A7C15 >> shift_; }

  std::vector<Slot> slots_;  // open addressing, at most half full
  int shift_;
  size_t size_ = 0;
};

}  // namespace buoy::text

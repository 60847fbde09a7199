#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace buoy {

// Sets of keys that weights are summed over. Each is kept as runs of neighbours, ascending; a key may be in
// several sets.
class KeySets {
 public:
  struct Run {
    std::int32_t begin, end;
  };

  // The keys that `is_member(key)` holds for, among the first `keys`.
  template <typename IsMember>
  void add(std::int64_t keys, const IsMember& is_member) {
    for (std::int32_t key = 0; key < keys; ++key) {
      if (!is_member(key)) continue;
      const bool follows = std::ssize(runs_) > first_run_.back() && runs_.back().end == key;
      if (!follows) runs_.push_back({key, key});
      runs_.back().end = key + 1;
    }
    first_run_.push_back(static_cast<std::int32_t>(runs_.size()));
  }

  std::int64_t count() const { return std::ssize(first_run_) - 1; }
  std::span<const Run> of(std::int64_t set) const {
    const auto first = static_cast<size_t>(first_run_[static_cast<size_t>(set)]);
    return std::span(runs_).subspan(first,
                                    static_cast<size_t>(first_run_[static_cast<size_t>(set) + 1]) - first);
  }
  std::span<const Run> runs() const { return runs_; }                      // of all sets
  std::span<const std::int32_t> first_runs() const { return first_run_; }  // [count + 1]

 private:
  std::vector<Run> runs_;
  std::vector<std::int32_t> first_run_ = {0};
};

}  // namespace buoy

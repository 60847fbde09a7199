#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace buoy::observe {

// Numbers named by a list such as "0-3,31"; empty: all there are.
class NumberSet {
 public:
  NumberSet() = default;
  // `option` is named in errors (UsageError).
  NumberSet(const std::string& list, const std::string& option);

  bool contains(std::int64_t number) const;
  // The members below `count`, ascending. UsageError when the list names one that is not below; `what` they
  // are.
  std::vector<std::int64_t> below(std::int64_t count, const char* what = "numbers") const;
  // Every number the list names, in its order; none for an empty list. UsageError above a million numbers.
  std::vector<std::int64_t> listed() const;

 private:
  struct Range {
    std::int64_t first, last;
  };
  std::string list_, option_;
  std::vector<Range> ranges_;
};

std::vector<std::string> split_list(const std::string& list);  // at commas

}  // namespace buoy::observe

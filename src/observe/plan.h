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
  // The members below `count`, ascending. UsageError when the list names one that is not below.
  std::vector<std::int64_t> below(std::int64_t count) const;

 private:
  struct Range {
    std::int64_t first, last;
  };
  std::string list_, option_;
  std::vector<Range> ranges_;
};

// What to observe in a run: the meaning of --observe, --layers and --steps.
struct Plan {
  bool received = false, entropy = false, log_sum_exp = false, first_share = false;
  bool rows = false, top = false, qk = false, norms = false, dense = false;
  std::int64_t top_count = 8;
  NumberSet layers, steps;

  std::vector<std::string> names() const;  // of what is observed, in the order of the help
};

// "received,entropy,..." or "all" (everything but dense). UsageError for a name it does not know.
Plan parse_plan(const std::string& observe, const std::string& layers, const std::string& steps);

// The names parse_plan knows, with a line on each: for the help.
std::string describe_observables();

}  // namespace buoy::observe

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/observe/number_set.h"
#include "buoy/observe/observables.h"

namespace buoy::observe {

// What to observe in a run: the meaning of `observe`, `layers` and `steps_observed`.
struct Plan {
  std::vector<const Observable*> wanted;  // in the order of observables()
  std::int64_t top_count = 8;             // strongest keys
  std::int64_t predicted_tokens = 5;      // most probable tokens
  NumberSet layers, steps;

  bool has(std::string_view name) const;
  std::vector<std::string> names() const;  // of what is observed
};

// "received,entropy,..." or "all" (everything that is not large: see Observable::in_all). UsageError for a
// name it does not know.
Plan parse_plan(const std::string& observe, const std::string& layers, const std::string& steps);

// The names parse_plan knows, with a line on each: for the help.
std::string describe_observables();

}  // namespace buoy::observe

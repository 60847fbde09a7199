#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/observe/number_set.h"

namespace buoy::observe {

// What to observe in a run: the meaning of --observe, --layers and --steps.
struct Plan {
  bool received = false, mass = false, contribution = false;
  bool entropy = false, log_sum_exp = false, first_share = false;
  bool rows = false, row_mass = false, top = false;
  bool qk = false, norms = false;
  bool states = false, dense_mean = false, dense = false;
  std::int64_t top_count = 8;
  NumberSet layers, steps;

  std::vector<std::string> names() const;  // of what is observed, in the order of the help
};

// "received,entropy,..." or "all" (everything that is not large). UsageError for a name it does not know.
Plan parse_plan(const std::string& observe, const std::string& layers, const std::string& steps);

// The names parse_plan knows, with a line on each: for the help.
std::string describe_observables();

}  // namespace buoy::observe

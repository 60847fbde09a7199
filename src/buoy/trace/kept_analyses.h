#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace buoy::trace {

// Analyses whose states a trace keeps in place of arrays, and the settings that went into them.
struct KeptAnalyses {
  std::vector<std::string> names;
  std::map<std::string, double> settings;

  bool has(std::string_view name) const;
};

}  // namespace buoy::trace

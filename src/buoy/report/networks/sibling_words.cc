#include "buoy/report/networks/sibling_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <vector>

#include "buoy/base/counted.h"

namespace buoy::report {

std::string sibling_words(std::span<const claims::NetworkQuantity> siblings) {
  std::map<std::string, std::set<std::string>> arms;
  for (const auto& one : siblings)
    arms[one.network.arm.empty() ? one.network.kind() : one.network.arm].insert(one.network.name);
  std::vector<std::string> words;
  std::size_t all = 0;
  for (const auto& [arm, networks] : arms) {
    words.push_back(fmt::format("{} ({})", arm, networks.size()));
    all += networks.size();
  }
  return all == 0 ? "" : fmt::format("{}: {}", counted(all, "network"), fmt::join(words, ", "));
}

}  // namespace buoy::report

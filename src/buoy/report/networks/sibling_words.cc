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
  std::set<std::string> controls;
  for (const auto& one : siblings) {
    const auto& network = one.network;
    auto& names =
        network.control.empty() ? arms[network.arm.empty() ? network.kind() : network.arm] : controls;
    names.insert(network.name);
  }
  std::vector<std::string> words;
  std::size_t all = 0;
  for (const auto& [arm, networks] : arms) {
    words.push_back(fmt::format("{} ({})", arm, networks.size()));
    all += networks.size();
  }
  std::string out =
      all == 0 ? "" : fmt::format("{}: {}", buoy::counted(all, "network"), fmt::join(words, ", "));
  if (!controls.empty())
    out +=
        (out.empty() ? "" : "; ") + buoy::counted(controls.size(), "untrained control") + " of their configs";
  return out;
}

}  // namespace buoy::report

#include "buoy/figure/draw/svg_ids.h"

#include <array>
#include <map>
#include <string_view>

namespace buoy::figure {
namespace {

constexpr std::array<std::string_view, 3> kBefore = {" id=\"", "href=\"#", "url(#"};

bool begins_name(const std::string& svg, size_t end) {
  for (const auto before : kBefore) {
    if (end >= before.size() && std::string_view(svg).substr(end - before.size(), before.size()) == before) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string renumber_svg_ids(const std::string& svg) {
  std::map<std::string, std::string> names;
  std::string result;
  size_t copied = 0;
  for (size_t at = svg.find_first_of("\"#"); at != std::string::npos; at = svg.find_first_of("\"#", at + 1)) {
    if (!begins_name(svg, at + 1)) continue;
    const size_t end = svg.find_first_of("\")", at + 1);
    if (end == std::string::npos) break;
    const auto next = "n" + std::to_string(names.size());
    const auto& name = names.try_emplace(svg.substr(at + 1, end - at - 1), next).first->second;
    result.append(svg, copied, at + 1 - copied);
    result += name;
    copied = end;
  }
  result.append(svg, copied);
  return result;
}

}  // namespace buoy::figure

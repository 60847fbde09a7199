#include "app/named_path.h"

#include "base/files.h"

namespace buoy::app {

NamedPath split_name(const std::string& text) {
  const size_t first = text.find('=', 1);
  if (first == std::string::npos || path_exists(text)) return {"", text};
  size_t end = first;
  for (size_t at = first; at != std::string::npos; at = text.find('=', at + 1)) {
    if (at + 1 == text.size() || !path_exists(text.substr(at + 1))) continue;
    end = at;
    break;
  }
  return {text.substr(0, end), text.substr(end + 1)};
}

std::vector<NamedPath> split_names(const std::vector<std::string>& texts) {
  std::vector<NamedPath> out;
  out.reserve(texts.size());
  for (const auto& text : texts) out.push_back(split_name(text));
  return out;
}

}  // namespace buoy::app

#include "buoy/base/file/named_path.h"

#include "buoy/base/file/files.h"
#include "buoy/base/utf8.h"

namespace buoy {

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

NamedPath parse_named(const std::string& text) {
  const NamedPath given = split_name(text);
  if (!given.name.empty()) return {replace_invalid_utf8(given.name), given.path};
  std::string name = std::filesystem::absolute(text).lexically_normal().filename().string();
  if (name.empty())
    name = std::filesystem::absolute(text).lexically_normal().parent_path().filename().string();
  for (const char* ending : {".gz", ".jsonl", ".json"}) {
    if (name.ends_with(ending)) name.resize(name.size() - std::string(ending).size());
  }
  return {replace_invalid_utf8(name), text};
}

}  // namespace buoy

#include "buoy/questions/data/item_ids.h"

#include <fmt/format.h>

namespace buoy::questions {
namespace {

constexpr std::size_t kLongest = 128;

bool is_allowed(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

std::string file_name_of(std::string_view id) {
  std::string name;
  for (const char c : id) {
    const bool continues_character = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!continues_character) name += is_allowed(c) ? c : '_';
  }
  if (name.empty()) name += '_';
  if (name.front() == '.') name.front() = '_';
  return name.substr(0, kLongest);
}

}  // namespace

std::string ItemIds::assign(std::string_view wanted) {
  ++items_;
  missing_ += wanted.empty();
  const std::string name = wanted.empty() ? fmt::format("{:06}", items_) : file_name_of(wanted);
  std::string id = name;
  while (!taken_.insert(id).second) {
    std::size_t& copies = copies_.try_emplace(name, 1).first->second;
    const std::string suffix = fmt::format("-{}", ++copies);
    id = name.substr(0, kLongest - suffix.size()) + suffix;
  }
  changed_ += !wanted.empty() && id != wanted;
  return id;
}

}  // namespace buoy::questions

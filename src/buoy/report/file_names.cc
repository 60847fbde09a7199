#include "buoy/report/file_names.h"

#include <algorithm>
#include <cctype>

namespace buoy::report {
namespace {

constexpr size_t kLongest = 120;

bool is_safe(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string FileNames::add(const std::string& wanted) {
  std::string name = wanted.substr(0, kLongest);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_safe(c); }, '_');
  if (name.empty()) name = "_";
  std::string unique = name;
  for (int i = 2; !taken_.insert(lower(unique)).second; ++i) unique = name + "_" + std::to_string(i);
  return unique;
}

}  // namespace buoy::report

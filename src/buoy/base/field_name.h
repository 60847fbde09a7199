#pragma once

#include <string>
#include <string_view>

namespace buoy {

// How the text of an error names a field of what was asked: "`gold_position`". Libraries know fields only;
// whoever talks to people in other words (the command line has flags) replaces what stands between the marks.
inline constexpr char kFieldMark = '`';

inline std::string field_name(std::string_view field) {
  std::string out(1, kFieldMark);
  out += field;
  out += kFieldMark;
  return out;
}

}  // namespace buoy

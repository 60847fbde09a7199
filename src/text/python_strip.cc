#include "text/python_strip.h"

#include "text/code_points.h"

namespace buoy::text {
namespace {

bool is_python_space(char32_t value) {
  return (value >= 0x09 && value <= 0x0D) || (value >= 0x1C && value <= 0x20) || value == 0x85 ||
         value == 0xA0 || value == 0x1680 || (value >= 0x2000 && value <= 0x200A) || value == 0x2028 ||
         value == 0x2029 || value == 0x202F || value == 0x205F || value == 0x3000;
}

}  // namespace

std::string_view python_strip(std::string_view text) {
  while (!text.empty()) {
    const CodePoint first = code_point_at(text, 0);
    if (!is_python_space(first.value)) break;
    text.remove_prefix(first.length);
  }
  while (!text.empty()) {
    const size_t last = previous_code_point(text, text.size());
    if (!is_python_space(code_point_at(text, last).value)) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

std::string_view strip_begin(std::string_view text, char c) {
  while (text.starts_with(c)) text.remove_prefix(1);
  return text;
}

std::string_view strip_end(std::string_view text, char c) {
  while (text.ends_with(c)) text.remove_suffix(1);
  return text;
}

}  // namespace buoy::text

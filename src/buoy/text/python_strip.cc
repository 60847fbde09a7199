#include "buoy/text/python_strip.h"

#include "buoy/text/python_text.h"

namespace buoy::text {

std::string_view python_strip(std::string_view text) {
  return strip(text, std::nullopt, {});
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

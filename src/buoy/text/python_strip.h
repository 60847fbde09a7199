#pragma once

#include <string_view>

namespace buoy::text {

// What Python's str.strip() leaves, which is what templates mean by trim. The text must be well-formed UTF-8.
std::string_view python_strip(std::string_view text);

std::string_view strip_begin(std::string_view text, char c);
std::string_view strip_end(std::string_view text, char c);

}  // namespace buoy::text

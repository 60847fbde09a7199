#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace buoy::text::jinja {

// What quoted text stands for, by Python's escapes. Nothing for \N{...} and for escapes that are not
// complete or give no character.
std::optional<std::string> unescape(std::string_view text);

}  // namespace buoy::text::jinja

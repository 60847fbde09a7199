#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buoy::text {

// What Python's str does, on well-formed UTF-8. Positions and lengths are in characters where not said
// otherwise.

bool is_python_space(char32_t value);

std::size_t count_characters(std::string_view text);
std::vector<std::string_view> characters_of(std::string_view text);
// The byte at which a character begins; text.size() behind the last one.
std::size_t byte_of_character(std::string_view text, std::size_t character);

// Without leading or trailing characters that are in `characters`, or white space where that is not given.
struct StripSides {
  bool begin = true, end = true;
};
std::string_view strip(std::string_view text, std::optional<std::string_view> characters, StripSides sides);

std::size_t find_bytes(std::string_view text, std::string_view part, std::size_t from);  // in linear time

// At most `most` cuts, from the left or from the right; all when negative.
struct SplitRule {
  std::optional<std::string_view> separator;  // not given: runs of white space
  std::ptrdiff_t most = -1;
  bool from_right = false;
};
std::vector<std::string_view> split(std::string_view text, const SplitRule& rule);
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends);

std::string replace_all(std::string_view text, std::string_view old, std::string_view with,
                        std::ptrdiff_t most);

// Nothing where the text holds a letter whose case depends on its neighbours or becomes several letters.
std::optional<std::string> lower_case(std::string_view text);
std::optional<std::string> upper_case(std::string_view text);

bool is_printable(char32_t value);

}  // namespace buoy::text

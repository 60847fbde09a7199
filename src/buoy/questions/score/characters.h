#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buoy::questions {

// What some programs write at the beginning of a file of UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Nothing but ASCII white space.
bool is_blank(std::string_view text);
// White space as Python's str.split() takes it.
bool is_space(char32_t c);
// Letters and numbers: \w of Python's re, without the underscore.
bool is_letter_or_number(char32_t c);
bool is_mark(char32_t c);
// The 32 characters of Python's string.punctuation.
bool is_ascii_punctuation(char32_t c);
// General categories P* (punctuation) and Cf (characters without a shape, such as the soft hyphen).
bool is_unicode_punctuation(char32_t c);

// Unicode's simple case folding: one character for one. Turkish dotted and dotless i stay apart.
char32_t simple_fold(char32_t c);

// The characters of well-formed UTF-8; each ill-formed part becomes U+FFFD.
std::u32string to_characters(std::string_view text);
std::string to_utf8(std::u32string_view characters);

// Python's str.lower(): full mappings, with the Greek final sigma.
std::u32string python_lower(std::u32string_view text);
// Compatibility-composed and fully case-folded (Unicode's toNFKC_Casefold, keeping ignorable characters).
std::u32string compatible_fold(std::u32string_view text);

}  // namespace buoy::questions

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace buoy {

// Offset of the first byte that is not part of well-formed UTF-8 (no overlong forms, no surrogates,
// nothing past U+10FFFF), or text.size() when all of it is.
size_t first_invalid_utf8(std::string_view text);

// Well-formed text; each maximal ill-formed subpart becomes U+FFFD, as Python and browsers do it.
std::string replace_invalid_utf8(std::string_view bytes);

// The characters of well-formed text.
std::u32string decode_utf8(std::string_view text);

}  // namespace buoy

#pragma once

#include <string>
#include <string_view>

namespace buoy::text {

// Tokenizer files write their patterns for Oniguruma. Rewrites one for PCRE2 so that it means the same, or
// throws an InputError naming `where` for anything that is not known to.
std::string pattern_for_pcre2(std::string_view pattern, const std::string& where);

}  // namespace buoy::text

#pragma once

#include <string_view>

namespace buoy::retrieve {

// Whether a sentence is likely to end with this word, given the first byte of the next one. Initials ("J."),
// dotted abbreviations ("U.S.") and common short forms ("Dr.") do not end one.
bool ends_sentence(std::string_view word, char next);

}  // namespace buoy::retrieve

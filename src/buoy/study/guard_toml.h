#pragma once

#include <string>
#include <string_view>

namespace buoy::study {

// Refuses what toml++ 3.3 does not survive: keys of so many parts that freeing the nested tables overflows
// the stack, and characters beyond ASCII outside of strings and comments, which TOML forbids and which lead
// it to a place it calls unreachable. All else is left to its own judgement. InputErrors name `file` and
// line.
void check_toml(std::string_view text, const std::string& file);

}  // namespace buoy::study

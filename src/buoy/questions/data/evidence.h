#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/questions/item.h"
#include "buoy/questions/prompt/region.h"

namespace buoy::questions {

// Every place where an answer stands in the text as whole words, in the order of the text. Case is folded
// character by character and one white space is as good as another. Longer answers first: a shorter one
// inside or across a place already taken is left out. InputError when the text is not well-formed UTF-8.
std::vector<ByteRange> find_evidence(std::string_view text, std::span<const std::string> answers);

// Whether evidence is looked for in passage `index`: in those marked gold, in all where none is.
bool may_hold_evidence(const Item& item, std::size_t index);

}  // namespace buoy::questions

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace buoy::retrieve {

// The words of a question that are searched for, each once, as they stand in it. A word is letters, numbers
// and marks, joined by apostrophes, full stops or hyphens between them ("O'Brien", "U.S", "2010-11").
// Question words and other words that are in every text are left out unless nothing else is there.
std::vector<std::string> search_words(std::string_view question);

// The question for FTS5: any of its words, every one quoted, so that nothing in it is read as syntax. "" when
// there is no word in it. A joined word becomes a phrase: its parts next to each other.
std::string match_expression(std::string_view question);

}  // namespace buoy::retrieve

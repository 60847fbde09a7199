#pragma once

#include <span>
#include <string>
#include <string_view>

namespace buoy::report {

// A word that the page uses in a sense of its own.
struct Term {
  std::string_view word;     // as sentences have it: "floating token"
  std::string_view meaning;  // one sentence without its full stop
};
std::span<const Term> terms();

// A text for people as HTML: the first time it uses a term, the term tells its meaning to who points at it.
std::string sentence_html(std::string_view text);

// All terms, folded.
std::string terms_html();

}  // namespace buoy::report

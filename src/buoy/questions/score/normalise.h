#pragma once

#include <string>
#include <string_view>

namespace buoy::questions {

// How answers are made comparable; docs/data-formats.md has the definitions.
enum class Normalisation {
  kPublished,  // SQuAD's rule as the authors run it, to the character, in Python
  kUnicode,    // the same rule for all scripts: composed or not, wide or not, any punctuation
};

std::string_view name_of(Normalisation normalisation);

// Words joined by single spaces: case folded, punctuation and the words a, an, the removed.
std::string normalise(std::string_view text, Normalisation normalisation);

}  // namespace buoy::questions

#include "buoy/questions/score/normalise.h"

#include <algorithm>

#include "buoy/questions/score/characters.h"

namespace buoy::questions {
namespace {

bool is_article(std::u32string_view word) {
  return word == U"a" || word == U"an" || word == U"the";
}

template <typename IsWord>
std::u32string without_articles(std::u32string_view text, IsWord is_word) {
  std::u32string kept;
  kept.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const bool in_word = is_word(text[at]);
    std::size_t end = at + 1;
    while (end < text.size() && is_word(text[end]) == in_word) ++end;
    const auto run = text.substr(at, end - at);
    if (in_word && is_article(run)) {
      kept += U' ';
    } else {
      kept += run;
    }
    at = end;
  }
  return kept;
}

std::u32string joined_words(std::u32string_view text) {
  std::u32string joined;
  joined.reserve(text.size());
  bool gap = false;
  for (const char32_t c : text) {
    if (is_space(c)) {
      gap = !joined.empty();
      continue;
    }
    if (gap) joined += U' ';
    gap = false;
    joined += c;
  }
  return joined;
}

std::u32string published(std::u32string_view text) {
  std::u32string kept = python_lower(text);
  std::erase_if(kept, is_ascii_punctuation);
  return joined_words(without_articles(kept, is_letter_or_number));
}

std::u32string unicode(std::u32string_view text) {
  std::u32string kept = compatible_fold(text);
  std::erase_if(kept, [](char32_t c) { return is_ascii_punctuation(c) || is_unicode_punctuation(c); });
  return joined_words(
      without_articles(kept, [](char32_t c) { return is_letter_or_number(c) || is_mark(c); }));
}

}  // namespace

std::string_view name_of(Normalisation normalisation) {
  return normalisation == Normalisation::kPublished ? "published" : "unicode";
}

std::string normalise(std::string_view text, Normalisation normalisation) {
  const std::u32string characters = to_characters(text);
  return to_utf8(normalisation == Normalisation::kPublished ? published(characters) : unicode(characters));
}

}  // namespace buoy::questions

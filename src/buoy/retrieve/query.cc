#include "buoy/retrieve/query.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "buoy/questions/score/characters.h"

namespace buoy::retrieve {
namespace {

using Characters = std::u32string;

// Sorted. Small on purpose: BM25 gives frequent words little weight by itself, and names contain such words.
constexpr std::array<std::u32string_view, 58> kCommonWords = {
    U"a",     U"an",   U"and",   U"are",  U"as",   U"at",   U"be",    U"been",  U"by",    U"can",
    U"could", U"did",  U"do",    U"does", U"for",  U"from", U"had",   U"has",   U"have",  U"he",
    U"her",   U"his",  U"how",   U"if",   U"in",   U"into", U"is",    U"it",    U"its",   U"many",
    U"much",  U"of",   U"on",    U"or",   U"she",  U"that", U"the",   U"their", U"there", U"these",
    U"they",  U"this", U"those", U"to",   U"was",  U"were", U"what",  U"when",  U"where", U"which",
    U"who",   U"whom", U"whose", U"why",  U"will", U"with", U"would", U"you"};
static_assert(std::is_sorted(kCommonWords.begin(), kCommonWords.end()));

bool in_word(char32_t c) {
  return questions::is_letter_or_number(c) || questions::is_mark(c);
}

bool joins(char32_t c) {
  return c == U'\'' || c == U'\u2019' || c == U'.' || c == U'-' || c == U'\u2010';
}

Characters folded(const Characters& word) {
  Characters result = word;
  std::transform(result.begin(), result.end(), result.begin(), questions::simple_fold);
  return result;
}

std::vector<Characters> words_of(const Characters& text) {
  std::vector<Characters> words;
  Characters word;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool joined = joins(text[at]) && !word.empty() && at + 1 < text.size() && in_word(text[at + 1]);
    if (in_word(text[at]) || joined) {
      word += text[at];
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

}  // namespace

std::vector<std::string> search_words(std::string_view question) {
  std::vector<std::string> all, rare;
  std::set<Characters> seen;
  for (const auto& word : words_of(questions::to_characters(question))) {
    const auto fold = folded(word);
    if (!seen.insert(fold).second) continue;
    all.push_back(questions::to_utf8(word));
    if (!std::binary_search(kCommonWords.begin(), kCommonWords.end(), fold)) rare.push_back(all.back());
  }
  return rare.empty() ? all : rare;
}

std::string match_expression(std::string_view question) {
  std::string expression;
  for (const auto& word : search_words(question)) {
    if (!expression.empty()) expression += " OR ";
    expression += '"' + word + '"';  // no word holds a quotation mark
  }
  return expression;
}

}  // namespace buoy::retrieve

#include "buoy/retrieve/sentence_end.h"

#include <algorithm>
#include <array>

namespace buoy::retrieve {
namespace {

using namespace std::string_view_literals;

constexpr std::array kClosers = {")"sv, "]"sv, "}"sv, "\""sv, "'"sv, "”"sv, "’"sv, "»"sv, "*"sv, "_"sv};
constexpr std::array kStrongEnds = {"!"sv, "?"sv, "…"sv, "。"sv, "！"sv, "？"sv};
constexpr std::array kShortForms = {"Mr"sv, "Mrs"sv, "Ms"sv,  "Dr"sv, "Prof"sv, "St"sv, "Jr"sv,
                                    "Sr"sv, "vs"sv,  "etc"sv, "No"sv, "Vol"sv,  "Fig"sv};

bool drop_suffix(std::string_view& word, std::string_view suffix) {
  if (!word.ends_with(suffix)) return false;
  word.remove_suffix(suffix.size());
  return true;
}

}  // namespace

bool ends_sentence(std::string_view word, char next) {
  while (
      std::any_of(kClosers.begin(), kClosers.end(), [&](auto closer) { return drop_suffix(word, closer); })) {
  }
  if (std::any_of(kStrongEnds.begin(), kStrongEnds.end(), [&](auto end) { return word.ends_with(end); }))
    return true;
  if (!drop_suffix(word, ".")) return false;
  if (next >= 'a' && next <= 'z') return false;
  if (word.size() <= 1 || word.find('.') != std::string_view::npos) return false;
  return std::find(kShortForms.begin(), kShortForms.end(), word) == kShortForms.end();
}

}  // namespace buoy::retrieve

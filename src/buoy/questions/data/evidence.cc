#include "buoy/questions/data/evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"
#include "buoy/questions/score/characters.h"
#include "buoy/text/code_points.h"

namespace buoy::questions {
namespace {

struct Folded {
  std::u32string characters;
  std::vector<std::size_t> offsets;  // of each character, and the end
};

Folded fold(std::string_view text) {
  const std::size_t valid = first_invalid_utf8(text);
  if (valid < text.size()) {
    throw_input_error(
        {"passage or answer", "well-formed UTF-8", fmt::format("a stray byte at offset {}", valid)});
  }
  Folded folded;
  for (std::size_t at = 0; at < text.size();) {
    const text::CodePoint point = text::code_point_at(text, at);
    folded.characters += is_space(point.value) ? U' ' : simple_fold(point.value);
    folded.offsets.push_back(at);
    at += point.length;
  }
  folded.offsets.push_back(text.size());
  return folded;
}

std::u32string trimmed(const std::u32string& text) {
  const std::size_t first = text.find_first_not_of(U' ');
  if (first == std::u32string::npos) return {};
  return text.substr(first, text.find_last_not_of(U' ') - first + 1);
}

bool is_word(char32_t c) {
  return c == U'_' || is_letter_or_number(c) || is_mark(c);
}

// Whether no word runs across the border before character `at`.
bool is_border(std::u32string_view text, std::size_t at) {
  return at == 0 || at == text.size() || !is_word(text[at - 1]) || !is_word(text[at]);
}

}  // namespace

std::vector<ByteRange> find_evidence(std::string_view text, std::span<const std::string> answers) {
  std::vector<std::u32string> wanted;
  for (const std::string& answer : answers) wanted.push_back(trimmed(fold(answer).characters));
  std::erase_if(wanted, [](const auto& answer) { return answer.empty(); });
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });

  const auto [characters, offsets] = fold(text);
  std::vector<bool> taken(characters.size(), false);
  std::vector<ByteRange> found;
  for (const auto& answer : wanted) {
    std::size_t at = characters.find(answer);
    while (at != std::u32string::npos) {
      const std::size_t end = at + answer.size();
      const auto begins = taken.begin() + static_cast<std::ptrdiff_t>(at);
      const auto ends = taken.begin() + static_cast<std::ptrdiff_t>(end);
      const bool whole = is_border(characters, at) && is_border(characters, end);
      const bool free = std::find(begins, ends, true) == ends;
      if (whole && free) {
        std::fill(begins, ends, true);
        found.push_back({offsets[at], offsets[end]});
      }
      at = characters.find(answer, at + 1);
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return found;
}

bool may_hold_evidence(const Item& item, std::size_t index) {
  const auto gold = [](const Passage& passage) { return passage.gold; };
  return item.passages[index].gold || std::none_of(item.passages.begin(), item.passages.end(), gold);
}

}  // namespace buoy::questions

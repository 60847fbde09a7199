#include "buoy/world/world2_text.h"

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/world/world2_tables.h"

namespace buoy::world {
namespace {

enum class Sign { kSpace, kLineEnd, kLetter, kDigit, kOther };

Sign sign_of(char c) {
  if (c == ' ') return Sign::kSpace;
  if (c == '\n') return Sign::kLineEnd;
  if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return Sign::kLetter;
  return c >= '0' && c <= '9' ? Sign::kDigit : Sign::kOther;
}

}  // namespace

std::string with_slot(std::string text, const std::string& slot, const std::string& value) {
  const size_t at = text.find(slot);
  return at == std::string::npos ? text : text.replace(at, slot.size(), value);
}

std::string list_answer(const Person& person, std::vector<size_t> relations) {
  std::sort(relations.begin(), relations.end());
  std::string text;
  for (const size_t r : relations) {
    text += (text.empty() ? "" : "; ") + world2_tables().list_names.at(r) + ": " + person.values.at(r);
  }
  return text;
}

std::string life_answer(const Person& person, std::vector<size_t> relations) {
  std::sort(relations.begin(), relations.end());
  std::string text;
  for (const size_t r : relations) {
    const std::string who = text.empty() ? person.name() : ' ' + person.pronoun();
    text += with_slot(with_slot(world_tables().relations.at(r).statements[0], "{s}", who), "{v}",
                      person.values[r]);
  }
  return text;
}

std::uint32_t world_token_count(const std::string& text) {
  std::uint32_t count = 0;
  Sign before = Sign::kSpace;
  for (const char c : text) {
    const Sign sign = sign_of(c);
    if (sign != before && sign != Sign::kSpace) ++count;
    before = sign;
  }
  return count;
}

std::string write_prompt(const questions::Item& item, const PromptForm& form) {
  const World2Tables& tables = world2_tables();
  const PassageStyle& style = tables.styles.at(form.style);
  const PromptWording& wording = tables.wordings.at(form.wording);
  BUOY_CHECK(item.passages.size() <= tables.most_passages);
  std::string text = item.passages.empty() ? "" : wording.before_passages;
  for (size_t i = 0; i < item.passages.size(); ++i) {
    std::string one = with_slot(style.text, "{number}", std::to_string(i + 1));
    one = with_slot(std::move(one), "{letter}", std::string(1, static_cast<char>('A' + i)));
    one = with_slot(std::move(one), "{title}", item.passages[i].title);
    text += with_slot(std::move(one), "{text}", item.passages[i].text);
  }
  return text + with_slot(wording.question, "{question}", item.question);
}

}  // namespace buoy::world

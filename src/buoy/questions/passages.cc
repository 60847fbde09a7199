#include "buoy/questions/passages.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/questions/score/characters.h"
#include "buoy/text/code_points.h"

namespace buoy::questions {
namespace {

bool is_gold(const Passage& passage) {
  return passage.gold;
}

Passage take_gold(Item& item) {
  const auto found = std::find_if(item.passages.begin(), item.passages.end(), is_gold);
  if (found == item.passages.end()) {
    throw_input_error({fmt::format("item {}: passages", item.id), "one that is marked gold",
                       fmt::format("none in {}", item.passages.size())});
  }
  Passage gold = std::move(*found);
  item.passages.erase(found);
  return gold;
}

void put_gold(Item& item, Passage gold, std::size_t index) {
  item.passages.insert(item.passages.begin() + static_cast<std::ptrdiff_t>(index), std::move(gold));
}

// Where a text may be cut, ascending: behind each of its words, or behind each character when it is one word.
std::vector<std::size_t> cuts_of(const std::string& text) {
  std::vector<std::size_t> words, characters;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const text::CodePoint point = text::code_point_at(text, at);
    const bool space = is_space(point.value);
    if (inside && space) words.push_back(at);
    inside = !space;
    at += point.length;
    characters.push_back(at);
  }
  return words.empty() ? characters : words;
}

// The largest n in [0, limit] that `fits`, 0 taken for granted.
template <typename Fits>
std::size_t largest(std::size_t limit, const Fits& fits) {
  std::size_t good = 0, bad = limit + 1;
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace

std::vector<std::size_t> gold_positions(const Item& item) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < item.passages.size(); ++i) {
    if (item.passages[i].gold) positions.push_back(i + 1);
  }
  return positions;
}

void keep_first(Item& item, std::size_t count) {
  if (item.passages.size() > count) item.passages.resize(count);
}

void keep_with_gold(Item& item, std::size_t count) {
  if (count == 0 || count > item.passages.size()) {
    throw_input_error({fmt::format("item {}: passages to keep", item.id),
                       fmt::format("1 to {}", item.passages.size()), fmt::format("{}", count)});
  }
  const auto positions = gold_positions(item);
  Passage gold = take_gold(item);
  keep_first(item, count - 1);
  put_gold(item, std::move(gold), std::min(positions.front() - 1, item.passages.size()));
}

void place_gold(Item& item, std::size_t position) {
  const std::size_t count = item.passages.size();
  if (position == 0 || position > count) {
    throw_input_error({fmt::format("item {}: gold position", item.id), fmt::format("1 to {}", count),
                       fmt::format("{}", position)});
  }
  put_gold(item, take_gold(item), position - 1);
}

FitResult fit_passages(Item& item, std::size_t budget, const CountTokens& count_tokens) {
  FitResult result;
  result.tokens = count_tokens(item);
  if (result.tokens <= budget) return result;
  const std::vector<Passage> all = item.passages;
  const auto fits = [&](std::size_t passages, std::size_t last_bytes) {
    item.passages.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(passages));
    if (passages > 0) item.passages.back().text.resize(last_bytes);
    result.tokens = count_tokens(item);
    return result.tokens <= budget;
  };
  const auto refuse = [&] {
    item.passages = all;
    throw_input_error({fmt::format("item {}: prompt", item.id), fmt::format("at most {} tokens", budget),
                       fmt::format("{}{}", result.tokens, all.empty() ? "" : " with hardly a passage left")});
  };
  if (all.empty()) refuse();
  const std::size_t whole =
      largest(all.size() - 1, [&](std::size_t count) { return fits(count, all[count - 1].text.size()); });
  const std::vector<std::size_t> cuts = cuts_of(all[whole].text);
  const std::size_t pieces =
      largest(cuts.size(), [&](std::size_t count) { return fits(whole + 1, cuts[count - 1]); });
  if (whole == 0 && pieces == 0) refuse();
  const std::size_t kept = whole + (pieces > 0);
  fits(kept, pieces > 0 ? cuts[pieces - 1] : all[kept - 1].text.size());
  result.cut = pieces > 0 && item.passages.back().text != all[kept - 1].text;
  result.dropped = all.size() - kept;
  result.lost_gold = std::any_of(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), is_gold);
  return result;
}

}  // namespace buoy::questions

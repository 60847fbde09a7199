#include "buoy/questions/score/metrics.h"

#include <algorithm>
#include <map>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/questions/score/characters.h"

namespace buoy::questions {
namespace {

std::vector<std::string_view> words_of(std::string_view normalised) {
  std::vector<std::string_view> words;
  while (!normalised.empty()) {
    const std::size_t end = std::min(normalised.find(' '), normalised.size());
    words.push_back(normalised.substr(0, end));
    normalised.remove_prefix(std::min(end + 1, normalised.size()));
  }
  return words;
}

double f1(std::string_view answer, std::string_view gold) {
  const auto answer_words = words_of(answer), gold_words = words_of(gold);
  if (answer_words.empty() || gold_words.empty()) return answer_words.empty() == gold_words.empty();
  std::map<std::string_view, int> left;
  for (const auto word : gold_words) ++left[word];
  int common = 0;
  for (const auto word : answer_words) {
    const auto found = left.find(word);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++common;
  }
  if (common == 0) return 0;
  const double precision = static_cast<double>(common) / static_cast<double>(answer_words.size());
  const double recall = static_cast<double>(common) / static_cast<double>(gold_words.size());
  return 2 * precision * recall / (precision + recall);
}

bool holds_words(std::string_view answer, std::string_view gold) {
  const std::string spaced = ' ' + std::string(answer) + ' ';
  return spaced.find(' ' + std::string(gold) + ' ') != std::string::npos;
}

double count_words(std::string_view text) {
  double words = 0;
  bool inside = false;
  for (const char32_t c : to_characters(text)) {
    const bool space = is_space(c);
    words += !space && !inside;
    inside = !space;
  }
  return words;
}

void add(Scores& sum, const Scores& scores, double weight) {
  sum.exact_match += weight * scores.exact_match;
  sum.substring += weight * scores.substring;
  sum.substring_words += weight * scores.substring_words;
  sum.f1 += weight * scores.f1;
  sum.words += weight * scores.words;
}

Scores divided(const Scores& sum, double by) {
  return {sum.exact_match / by, sum.substring / by, sum.substring_words / by, sum.f1 / by, sum.words / by};
}

}  // namespace

Scores score_answer(std::string_view answer, std::span<const std::string> golds,
                    Normalisation normalisation) {
  const std::string mine = normalise(answer, normalisation);
  Scores best;
  best.words = count_words(answer);
  for (const std::string& written : golds) {
    const std::string gold = normalise(written, normalisation);
    best.exact_match = std::max(best.exact_match, mine == gold ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, f1(mine, gold));
    if (gold.empty()) continue;
    best.substring = std::max(best.substring, mine.find(gold) != std::string::npos ? 1.0 : 0.0);
    best.substring_words = std::max(best.substring_words, holds_words(mine, gold) ? 1.0 : 0.0);
  }
  return best;
}

SetScores mean_scores(std::string set, std::span<const Scores> items) {
  if (items.empty()) throw_usage_error({"scores of " + set, "at least one item", "none"});
  Scores sum;
  for (const Scores& scores : items) add(sum, scores, 1);
  return {std::move(set), items.size(), divided(sum, static_cast<double>(items.size()))};
}

double cell_average(std::span<const SetScores> sets) {
  if (sets.empty()) throw_usage_error({"average over data sets", "at least one set", "none"});
  double sum = 0;
  for (const SetScores& set : sets) sum += set.mean.substring + set.mean.f1;
  return sum / (2 * static_cast<double>(sets.size()));
}

Scores item_average(std::span<const SetScores> sets) {
  if (sets.empty()) throw_usage_error({"average over data sets", "at least one set", "none"});
  Scores sum;
  double items = 0;
  for (const SetScores& set : sets) {
    add(sum, set.mean, static_cast<double>(set.items));
    items += static_cast<double>(set.items);
  }
  return divided(sum, items);
}

}  // namespace buoy::questions

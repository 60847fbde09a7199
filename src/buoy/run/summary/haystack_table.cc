#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "buoy/result/schema/evaluation.h"
#include "buoy/run/summary/summary_tables.h"
#include "buoy/stats/share.h"

namespace buoy::run {
namespace {

std::optional<std::int64_t> number_label(const AnswerRecord& answer, const char* label) {
  const auto found = answer.labels.find(label);
  if (found == answer.labels.end()) return std::nullopt;
  const std::string& text = found->second;
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Table haystack_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_haystack;
  Table table(t);
  for (const auto& cell : book.cells) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> by_place;
    for (const auto& answer : cell.answers) {
      const auto length = number_label(answer, "length"), depth = number_label(answer, "depth");
      if (length && depth) by_place[{*length, *depth}].push_back(answer.scores.exact_match);
    }
    for (const auto& [place, scores] : by_place) {
      table.add({{t.model, cell.model},
                 {t.set, cell.set},
                 {t.condition, cell.condition},
                 {t.length, place.first},
                 {t.depth, place.second},
                 {t.items, static_cast<std::int64_t>(scores.size())},
                 {t.mean, estimate_cells(stats::mean_estimate(scores, options))}});
    }
  }
  return table;
}

}  // namespace buoy::run

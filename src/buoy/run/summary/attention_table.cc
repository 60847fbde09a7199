#include <algorithm>

#include "buoy/result/schema/evaluation.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/summary/summary_tables.h"

namespace buoy::run {
namespace {

// Chance that a right answer has the larger value, ties counted half.
double area_under_curve(const std::vector<double>& right, const std::vector<double>& wrong) {
  std::vector<double> sorted = wrong;
  std::sort(sorted.begin(), sorted.end());
  double wins = 0;
  for (const double value : right) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), value);
    wins += static_cast<double>(low - sorted.begin()) + 0.5 * static_cast<double>(high - low);
  }
  return wins / (static_cast<double>(right.size()) * static_cast<double>(wrong.size()));
}

struct Outcomes {
  std::vector<double> right, wrong;
};

Outcomes outcomes(const CellScores& cell, const std::string& feature, std::int64_t position) {
  Outcomes out;
  for (const auto& answer : cell.answers) {
    const auto found = answer.attention.find(feature);
    if (found == answer.attention.end()) continue;
    const bool here = answer.gold_positions.size() == 1 && answer.gold_positions[0] == position;
    if (position > 0 && !here) continue;
    (answer.scores.exact_match > 0 ? out.right : out.wrong).push_back(found->second);
  }
  return out;
}

// Of the means of right and of wrong answers.
IntervalCells difference(const Outcomes& both, const Bootstrap& options) {
  const stats::ScoreTable tables[] = {{{both.right}}, {{both.wrong}}};
  return estimate_cells(stats::bootstrap(
      tables, [](std::span<const double> means) { return means[0] - means[1]; }, options));
}

}  // namespace

Table attention_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_attention;
  Table table(t);
  for (const auto& cell : book.cells) {
    std::vector<std::int64_t> positions = {0};
    for (const auto& answer : cell.answers) {
      if (answer.gold_positions.size() == 1) positions.push_back(answer.gold_positions[0]);
    }
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    for (const auto position : positions) {
      for (const auto& feature : feature_names()) {
        const auto both = outcomes(cell, feature.name, position);
        if (both.right.empty() && both.wrong.empty()) continue;
        const bool both_kinds = !both.right.empty() && !both.wrong.empty();
        table.add({{t.model, cell.model},
                   {t.set, cell.set},
                   {t.condition, cell.condition},
                   {t.position, position == 0 ? Cell{"all"} : Cell{position}},
                   {t.feature, std::string(feature.name)},
                   {t.meaning, std::string(feature.meaning)},
                   {t.right_items, static_cast<std::int64_t>(both.right.size())},
                   {t.wrong_items, static_cast<std::int64_t>(both.wrong.size())},
                   {t.right, both.right.empty() ? Cell{} : number_cell(mean_of(both.right))},
                   {t.wrong, both.wrong.empty() ? Cell{} : number_cell(mean_of(both.wrong))},
                   {t.difference, both_kinds ? difference(both, options) : IntervalCells{}},
                   {t.auc, both_kinds ? Cell(area_under_curve(both.right, both.wrong)) : Cell{}}});
      }
    }
  }
  return table;
}

}  // namespace buoy::run

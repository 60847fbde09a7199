#include <algorithm>

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

}  // namespace

Table attention_table(const ScoreBook& book, const Bootstrap& options) {
  Table table{"eval_attention",
              "Attention of right and of wrong answers",
              {{"model", "name of the model"},
               {"set", "data set"},
               {"condition", "how it was asked"},
               {"position", "place of the gold passage; all: whatever it is"},
               {"feature", "what of the attention"},
               {"meaning", "what the feature is"},
               {"right_items", "answers that match"},
               {"wrong_items", "answers that do not"},
               {"right", "mean of the feature over right answers"},
               {"wrong", "mean over wrong ones"},
               {"difference", "right minus wrong"},
               {"lower", "lower end of its interval, right and wrong answers resampled apart"},
               {"upper", "upper end"},
               {"auc", "chance that a right answer has the larger value; 0.5: the feature tells nothing"}},
              {}};
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
        std::vector<Cell> row = {cell.model,
                                 cell.set,
                                 cell.condition,
                                 position == 0 ? Cell{"all"} : Cell{position},
                                 std::string(feature.name),
                                 std::string(feature.meaning),
                                 static_cast<std::int64_t>(both.right.size()),
                                 static_cast<std::int64_t>(both.wrong.size()),
                                 both.right.empty() ? Cell{} : number_cell(mean_of(both.right)),
                                 both.wrong.empty() ? Cell{} : number_cell(mean_of(both.wrong))};
        if (both.right.empty() || both.wrong.empty()) {
          row.insert(row.end(), 4, Cell{});
        } else {
          const stats::ScoreTable tables[] = {{{both.right}}, {{both.wrong}}};
          add_estimate(
              row, stats::bootstrap(
                       tables, [](std::span<const double> means) { return means[0] - means[1]; }, options));
          row.push_back(area_under_curve(both.right, both.wrong));
        }
        table.add(std::move(row));
      }
    }
  }
  return table;
}

}  // namespace buoy::run

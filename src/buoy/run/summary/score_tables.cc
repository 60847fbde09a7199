#include <algorithm>
#include <set>

#include "buoy/run/summary/summary_tables.h"
#include "buoy/stats/share.h"

namespace buoy::run {
namespace {

const Metric& exact_match() {
  return metrics().front();
}

// Exact match of the answers of every group of a cell, groups named by `group` ("" leaves an answer out).
struct Grouped {
  std::string name;
  std::vector<double> scores;
};

template <typename Group>
std::vector<Grouped> group_answers(const CellScores& cell, const Group& group) {
  std::map<std::string, std::vector<double>> groups;
  for (const auto& answer : cell.answers) {
    const std::string name = group(answer);
    if (!name.empty()) groups[name].push_back(answer.scores.*exact_match().value);
  }
  std::vector<Grouped> out;
  for (auto& [name, scores] : groups) out.push_back({name, std::move(scores)});
  return out;
}

std::vector<Column> cell_columns() {
  return {{"model", "name of the model"}, {"set", "data set"}, {"condition", "how it was asked"}};
}

std::vector<Column> with(std::vector<Column> columns, const std::vector<Column>& more) {
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

const std::vector<Column> kEstimate = {
    {"mean", "mean over the items"},
    {"lower", "lower end of its interval: Wilson's for shares, else items resampled"},
    {"upper", "upper end"}};

}  // namespace

std::string kind_name(bool masked_diffusion) {
  return masked_diffusion ? "masked diffusion" : "autoregressive";
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

stats::Estimate estimate_of(const Metric& metric, const std::vector<double>& scores,
                            const Bootstrap& options) {
  const bool length = metric.value == &questions::Scores::words;
  return length ? stats::bootstrap_mean(scores, options) : stats::mean_estimate(scores, options);
}

void add_estimate(std::vector<Cell>& row, const stats::Estimate& estimate) {
  const bool interval = estimate.samples >= 2;
  row.push_back(number_cell(estimate.value));
  row.push_back(interval ? number_cell(estimate.lower) : Cell{});
  row.push_back(interval ? number_cell(estimate.upper) : Cell{});
}

Table scores_table(const ScoreBook& book, const Bootstrap& options) {
  Table table{"eval_scores",
              "Scores of every model, data set and condition",
              with(with(cell_columns(), {{"kind", "masked diffusion or autoregressive"},
                                         {"axis", "what a sweep varies; empty outside of one"},
                                         {"value", "value of the axis"},
                                         {"items", "answered items"},
                                         {"failed", "items without an answer, see eval_failures"},
                                         {"metric", "exact_match, substring, substring_words, f1, words"}}),
                   kEstimate),
              {}};
  for (const auto& cell : book.cells) {
    const auto model = std::find_if(book.models.begin(), book.models.end(),
                                    [&](const ModelFacts& facts) { return facts.name == cell.model; });
    const auto condition =
        std::find_if(book.conditions.begin(), book.conditions.end(),
                     [&](const ConditionFacts& facts) { return facts.name == cell.condition; });
    for (const auto& metric : metrics()) {
      std::vector<Cell> row = {cell.model,
                               cell.set,
                               cell.condition,
                               kind_name(model != book.models.end() && model->masked_diffusion),
                               condition->axis,
                               condition->value,
                               static_cast<std::int64_t>(cell.answers.size()),
                               static_cast<std::int64_t>(cell.failures.size()),
                               std::string(metric.name)};
      if (cell.answers.empty()) {
        row.insert(row.end(), 3, Cell{});
      } else {
        add_estimate(row, estimate_of(metric, cell.column(metric), options));
      }
      table.add(std::move(row));
    }
  }
  return table;
}

Table positions_table(const ScoreBook& book, const Bootstrap& options) {
  Table table{"eval_positions",
              "Exact match by the place of the gold passage",
              with(with(cell_columns(), {{"passages", "in the prompt"},
                                         {"position", "place of the only gold passage, from 1"},
                                         {"items", "answered items"}}),
                   kEstimate),
              {}};
  for (const auto& cell : book.cells) {
    std::set<std::int64_t> counts;
    for (const auto& answer : cell.answers) counts.insert(answer.passages);
    for (const auto count : counts) {
      std::map<std::int64_t, std::vector<double>> by_position;
      for (const auto& answer : cell.answers) {
        if (answer.passages == count && count > 1 && answer.gold_positions.size() == 1)
          by_position[answer.gold_positions[0]].push_back(answer.scores.*exact_match().value);
      }
      for (const auto& [position, scores] : by_position) {
        std::vector<Cell> row = {cell.model, cell.set, cell.condition,
                                 count,      position, static_cast<std::int64_t>(scores.size())};
        add_estimate(row, stats::mean_estimate(scores, options));
        table.add(std::move(row));
      }
    }
  }
  return table;
}

Table labels_table(const ScoreBook& book, const Bootstrap& options) {
  constexpr std::size_t kMostValues = 30;  // more is no grouping but a name of the item
  Table table{
      "eval_labels",
      "Exact match by what the data says of its items",
      with(with(cell_columns(),
                {{"label", "field of the data"}, {"value", "its value"}, {"items", "answered items"}}),
           kEstimate),
      {}};
  for (const auto& cell : book.cells) {
    std::set<std::string> names;
    for (const auto& answer : cell.answers) {
      for (const auto& [name, value] : answer.labels) names.insert(name);
    }
    for (const auto& name : names) {
      const auto groups = group_answers(cell, [&](const AnswerRecord& answer) {
        const auto found = answer.labels.find(name);
        return found == answer.labels.end() ? std::string() : found->second;
      });
      if (groups.size() < 2 || groups.size() > kMostValues) continue;
      for (const auto& group : groups) {
        std::vector<Cell> row = {cell.model, cell.set,   cell.condition,
                                 name,       group.name, static_cast<std::int64_t>(group.scores.size())};
        add_estimate(row, stats::mean_estimate(group.scores, options));
        table.add(std::move(row));
      }
    }
  }
  return table;
}

Table failures_table(const ScoreBook& book) {
  Table table{"eval_failures",
              "Items without an answer",
              with(cell_columns(), {{"id", "of the item"}, {"error", "why"}}),
              {}};
  for (const auto& cell : book.cells) {
    for (const auto& failure : cell.failures)
      table.add({cell.model, cell.set, cell.condition, failure.id, failure.error});
  }
  return table;
}

}  // namespace buoy::run

#include <algorithm>
#include <set>

#include "buoy/result/schema/evaluation.h"
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

IntervalCells estimate_cells(const stats::Estimate& estimate) {
  if (estimate.samples < 2) return {.value = estimate.value};
  return {estimate.value, estimate.lower, estimate.upper};
}

Table scores_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_scores;
  Table table(t);
  for (const auto& cell : book.cells) {
    const auto model = std::find_if(book.models.begin(), book.models.end(),
                                    [&](const ModelFacts& facts) { return facts.name == cell.model; });
    const auto condition =
        std::find_if(book.conditions.begin(), book.conditions.end(),
                     [&](const ConditionFacts& facts) { return facts.name == cell.condition; });
    for (const auto& metric : metrics()) {
      table.add({{t.model, cell.model},
                 {t.set, cell.set},
                 {t.condition, cell.condition},
                 {t.kind, kind_name(model != book.models.end() && model->masked_diffusion)},
                 {t.axis, condition->axis},
                 {t.value, condition->value},
                 {t.items, static_cast<std::int64_t>(cell.answers.size())},
                 {t.failed, static_cast<std::int64_t>(cell.failures.size())},
                 {t.metric, std::string(metric.name)},
                 {t.mean, cell.answers.empty()
                              ? IntervalCells{}
                              : estimate_cells(estimate_of(metric, cell.column(metric), options))}});
    }
  }
  return table;
}

Table positions_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_positions;
  Table table(t);
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
        table.add({{t.model, cell.model},
                   {t.set, cell.set},
                   {t.condition, cell.condition},
                   {t.passages, count},
                   {t.position, position},
                   {t.items, static_cast<std::int64_t>(scores.size())},
                   {t.mean, estimate_cells(stats::mean_estimate(scores, options))}});
      }
    }
  }
  return table;
}

Table labels_table(const ScoreBook& book, const Bootstrap& options) {
  constexpr std::size_t kMostValues = 30;  // more is no grouping but a name of the item
  const auto& t = schema::eval_labels;
  Table table(t);
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
        table.add({{t.model, cell.model},
                   {t.set, cell.set},
                   {t.condition, cell.condition},
                   {t.label, name},
                   {t.value, group.name},
                   {t.items, static_cast<std::int64_t>(group.scores.size())},
                   {t.mean, estimate_cells(stats::mean_estimate(group.scores, options))}});
      }
    }
  }
  return table;
}

Table failures_table(const ScoreBook& book) {
  const auto& t = schema::eval_failures;
  Table table(t);
  for (const auto& cell : book.cells) {
    for (const auto& failure : cell.failures)
      table.add({{t.model, cell.model},
                 {t.set, cell.set},
                 {t.condition, cell.condition},
                 {t.id, failure.id},
                 {t.error, failure.error}});
  }
  return table;
}

}  // namespace buoy::run

#include "buoy/report/front/question_counts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "buoy/result/schema/evaluation.h"
#include "buoy/result/table_view.h"

namespace buoy::report {
namespace {

// The most that were answered under one condition: every condition asks the same ones.
std::int64_t most_items(const TableView& rows) {
  double most = 0;
  for (const double items : rows.numbers(schema::eval_scores.items)) {
    if (std::isfinite(items)) most = std::max(most, items);
  }
  return static_cast<std::int64_t>(most);
}

std::string sets_of(const TableView& rows) {
  std::vector<std::string> out;
  for (const auto& set : rows.distinct(schema::eval_scores.set))
    out.push_back(fmt::format("{} {}", set, most_items(rows.where({{schema::eval_scores.set, set}}))));
  return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace

std::vector<TracedModel> models_of(std::span<const TraceSummary> traces) {
  std::vector<TracedModel> out;
  for (const auto& trace : traces) {
    if (trace.control) continue;
    const auto same = [&](const TracedModel& other) {
      return other.trace->model == trace.model &&
             other.trace->card.weights_sha256 == trace.card.weights_sha256;
    };
    auto found = std::find_if(out.begin(), out.end(), same);
    if (found == out.end()) found = out.insert(out.end(), {&trace, {}});
    found->questions.emplace_back(trace.kind.data.empty() ? trace.kind.label : trace.kind.data,
                                  trace.kind.samples);
  }
  return out;
}

std::string asked_questions(std::span<const AnalysedTables> analyses) {
  const auto& t = schema::eval_scores;
  for (const auto& analysis : analyses) {
    for (const auto& table : analysis.tables) {
      if (!table.is(t) || !table.has(t.items) || !table.has(t.set)) continue;
      const TableView all(table);
      if (!all.has(schema::trace)) return sets_of(all);
      std::vector<std::string> runs;
      for (const auto& run : all.distinct(schema::trace))
        runs.push_back(fmt::format("{}: {}", run, sets_of(all.where({{schema::trace, run}}))));
      return fmt::format("{}", fmt::join(runs, "; "));
    }
  }
  return "";
}

}  // namespace buoy::report

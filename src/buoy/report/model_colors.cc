#include "buoy/report/model_colors.h"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "buoy/figure/chart/color.h"
#include "buoy/result/schema/common.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/result/table_view.h"

namespace buoy::report {
namespace {

template <typename Chart>
void paint_chart(Chart& chart, const std::map<std::string, std::size_t>& colors, std::size_t models) {
  // Colours that no model has, as long as there are any.
  const std::size_t count = figure::series_color_count(), left = count > models ? count - models : count;
  std::size_t others = 0;
  std::set<std::size_t> taken;
  std::map<std::size_t, std::size_t> painted;  // by the style that was given: one without a name shares it
  for (auto& series : chart.series) {
    const auto given = series.style;
    if (series.name.empty() && given && painted.contains(*given)) {
      series.style = painted.at(*given);
      continue;
    }
    const auto found = colors.find(series.name);
    const bool own = found != colors.end() && taken.insert(found->second).second;
    series.style = own ? found->second : models + others++ % left;
    if (given) painted.emplace(*given, *series.style);
  }
}

bool is_of_evaluation(const Table& table) {
  return std::any_of(schema::kEvaluationTables.begin(), schema::kEvaluationTables.end(),
                     [&](const TableSchema* declared) { return table.is(*declared); });
}

}  // namespace

void ModelColors::add(const std::string& name) {
  if (colors_.emplace(name, models_).second) ++models_;
}

void ModelColors::add_trace(const std::string& label, const std::string& model) {
  add(model);
  colors_.emplace(label, colors_.at(model));
}

void ModelColors::add_names(std::span<const Table> tables) {
  for (const Table& table : tables) {
    const TableView rows(table);
    // What tells tables of evaluations apart are runs, which are no models.
    if (table.is(schema::eval_scores)) {
      for (const auto& model : rows.distinct(schema::eval_scores.model)) add(model);
    } else if (rows.has(schema::trace) && !is_of_evaluation(table)) {
      for (const auto& trace : rows.distinct(schema::trace)) add(trace);
    }
  }
}

void ModelColors::paint(Section& section) const {
  for (auto& named : section.figures) {
    for (auto& panel : named.figure.panels) {
      if (auto* lines = std::get_if<figure::LineChart>(&panel.content)) paint_chart(*lines, colors_, models_);
      if (auto* bars = std::get_if<figure::BarChart>(&panel.content)) paint_chart(*bars, colors_, models_);
    }
  }
}

}  // namespace buoy::report

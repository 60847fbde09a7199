#include "buoy/report/controls.h"

#include <algorithm>
#include <optional>

namespace buoy::report {
namespace {

// Columns that say whose a row is.
bool tells_whose(const Column& column) {
  return column.name == "trace" || column.name == "other" || column.name == "model";
}

bool is_of(const Control& control, const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return false;
  // Models of one name are told apart by a label in brackets behind it.
  return *text == control.label || *text == control.model || text->starts_with(control.model + " (");
}

bool is_of_controls(const Table& table, const std::vector<Cell>& row, std::span<const Control> controls) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (tells_whose(table.columns[i]) &&
        std::any_of(controls.begin(), controls.end(), [&](const Control& c) { return is_of(c, row[i]); }))
      return true;
  }
  return false;
}

// Series are called after their trace, some with more behind a comma.
std::optional<std::string> rest_behind(const std::string& name, const std::string& label) {
  if (!name.starts_with(label)) return std::nullopt;
  std::string rest = name.substr(label.size());
  if (rest.empty() || rest.starts_with(", ")) return rest;
  return std::nullopt;
}

std::optional<std::size_t> series_beside(const figure::LineChart& chart, const Control& control,
                                         const std::string& rest) {
  for (const auto& label : control.beside) {
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      if (chart.series[i].name == label + rest) return i;
    }
  }
  return std::nullopt;
}

bool add_curves(figure::LineChart& chart, const figure::LineChart& of_controls,
                std::span<const Control> controls) {
  bool any = false;
  for (const auto& series : of_controls.series) {
    for (const auto& control : controls) {
      const auto rest = rest_behind(series.name, control.label);
      if (!rest) continue;
      chart.references.push_back(
          {kUntrainedName, series.x, series.y, series_beside(chart, control, *rest), true});
      any = true;
      break;
    }
  }
  return any;
}

bool add_curves(figure::Figure& figure, const figure::Figure& of_controls,
                std::span<const Control> controls) {
  bool any = false;
  for (auto& panel : figure.panels) {
    auto* chart = std::get_if<figure::LineChart>(&panel.content);
    if (chart == nullptr || chart->series.empty()) continue;
    const auto same = std::find_if(of_controls.panels.begin(), of_controls.panels.end(),
                                   [&](const auto& other) { return other.title == panel.title; });
    if (same == of_controls.panels.end()) continue;
    const auto* measured = std::get_if<figure::LineChart>(&same->content);
    if (measured != nullptr) any |= add_curves(*chart, *measured, controls);
  }
  return any;
}

}  // namespace

std::vector<Table> rows_of(Rows which, std::span<const Table> tables, std::span<const Control> controls) {
  std::vector<Table> out(tables.begin(), tables.end());
  for (auto& table : out) {
    std::erase_if(table.rows, [&](const auto& row) {
      return is_of_controls(table, row, controls) == (which == Rows::kOfModels);
    });
  }
  return out;
}

void add_controls(Section& section, const Section& of_controls, std::span<const Control> controls) {
  for (auto& named : section.figures) {
    const auto same = std::find_if(of_controls.figures.begin(), of_controls.figures.end(),
                                   [&](const auto& other) { return other.name == named.name; });
    if (same == of_controls.figures.end() || !add_curves(named.figure, same->figure, controls)) continue;
    named.caption += " Dashed: networks of the same config that were never trained.";
    auto& caption = named.figure.caption;
    if (caption.ends_with('.') && !same->figure.caption.empty()) caption.pop_back();
    if (!same->figure.caption.empty())
      caption += (caption.empty() ? "" : "; ") + std::string(kUntrainedName) + ": " + same->figure.caption;
  }
}

}  // namespace buoy::report

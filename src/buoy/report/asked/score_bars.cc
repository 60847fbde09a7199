#include "buoy/report/asked/score_bars.h"

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/evaluation.h"

namespace buoy::report {
namespace {

constexpr double kOnePanelMm = 110;

}  // namespace

figure::BarChart bars(const TableView& rows, const BarColumns& columns, const std::string& title) {
  figure::BarChart chart{title, rows.distinct(columns.group), {}, {}, ""};
  for (const auto& model : rows.distinct(columns.model)) {
    figure::BarSeries series{model, {}, {}, {}};
    for (const auto& group : chart.groups) {
      const auto row = rows.where({{columns.model, model}, {columns.group, group}});
      series.values.push_back(row.number(columns.height));
      series.lower.push_back(row.number(columns.height.lower));
      series.upper.push_back(row.number(columns.height.upper));
    }
    if (!has_number(series.lower)) series.lower = series.upper = {};
    chart.series.push_back(std::move(series));
  }
  return chart;
}

figure::Figure page_of(std::vector<figure::Panel> panels) {
  figure::Figure page;
  page.columns = panels.size() == 1 ? 1 : 2;
  if (panels.size() == 1) page.width_mm = kOnePanelMm;
  page.letters = panels.size() > 1;
  page.panels = std::move(panels);
  return page;
}

std::string counted_items(const TableView& scores) {
  const auto& t = schema::eval_scores;
  return counted(scores.where({{t.metric, "exact_match"}}), {t.set, t.items, "item"});
}

}  // namespace buoy::report

#include <fmt/format.h>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/absorption.h"

namespace buoy::report {
namespace {

// Of traces without a forward over the final row the last observed step is shown, and the reader is told.
std::string without_final_row(const TableView& published) {
  const auto& t = schema::absorption_published;
  std::string names;
  for (const auto& trace : published.distinct(schema::trace)) {
    if (published.where({{schema::trace, trace}}).number(t.saw_final_row) < 1)
      names += (names.empty() ? "" : ", ") + trace;
  }
  return names.empty() ? "" : " No final row was traced: the last observed step stands in for " + names + ".";
}

NamedFigure published(std::span<const Table> tables) {
  const auto& t = schema::absorption_published;
  const auto all = find_table(tables, t);
  const auto& p = schema::published_absorption;
  const auto paper = find_table(tables, p);
  figure::LineChart ours{"Layer", "Absorption rate (%)", {}, {}, {}, 0.0, {}};
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto rows = all.where({{schema::trace, trace}});
    figure::Series series{trace, rows.numbers(t.layer), rows.numbers(t.absorbed_percent), {}, {}};
    const auto deviation = rows.numbers(t.deviation);
    for (size_t i = 0; i < series.y.size(); ++i) {
      series.lower.push_back(series.y[i] - deviation[i]);
      series.upper.push_back(series.y[i] + deviation[i]);
    }
    ours.series.push_back(series);
    ours.references.push_back(
        reference(kUniformName, rows, {t.layer, t.floor_percent}, ours.series.size() - 1));
  }
  figure::LineChart theirs{"Layer", "Absorption rate (%)", {}, {}, {}, 0.0, {}};
  const std::string any_trace = all.text(schema::trace);
  for (const auto& model : paper.distinct(p.model)) {
    const auto rows = paper.where({{schema::trace, any_trace}, {p.model, model}});
    theirs.series.push_back({model, rows.numbers(p.layer), rows.numbers(p.absorbed_percent), {}, {}});
  }
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  page.title = "Absorption by the published estimator, and as the paper has it";
  page.caption = counted(all, {schema::trace, t.samples});
  if (!page.caption.empty()) page.caption = "a: " + page.caption + "; b: as published";
  page.panels = {{"This run, published estimator", ours}, {"The paper, read off its figure", theirs}};
  return {"absorption_published",
          "Published estimator: position 0 for autoregressive models, the largest column for diffusion "
          "models, final row, heads averaged, mean over samples; bands: one standard deviation over samples. "
          "Dotted: uniform attention. The selectors differ, so the curves of a cannot be compared with each "
          "other." +
              without_final_row(all),
          page};
}

std::string first_title(std::span<const Table> tables) {
  const auto& t = schema::absorption_summary;
  const auto all = find_table(tables, t).where(
      {{t.steps, "final"}, {t.view, "per_head"}, {t.depth, "all layers"}, {t.selector, "position_0"}});
  std::vector<Measured> numbers;
  for (const auto& trace : all.distinct(schema::trace))
    numbers.push_back(measured(trace, all.where({{schema::trace, trace}}), {t.lift, t.samples}, 1));
  return title_of({"Attention on position 0, times uniform",
                   "Attention on position 0 and on the largest column, over uniform attention", kUniformName},
                  numbers);
}

NamedFigure calibrated(std::span<const Table> tables) {
  const auto& t = schema::absorption_by_layer;
  const auto all = find_table(tables, t).where({{t.steps, "final"}, {t.view, "per_head"}});
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& [selector, title] :
       {std::pair{"position_0", "Position 0"}, std::pair{"top_1", "Largest column"}}) {
    figure::LineChart chart{"Layer", "Times uniform attention", {}, {}, figure::AxisScale::kLog, {}, {}};
    for (const auto& trace : all.distinct(schema::trace)) {
      chart.series.push_back(
          curve(trace, all.where({{schema::trace, trace}, {t.selector, selector}}), {t.layer, t.lift}));
    }
    if (!chart.series.empty())
      chart.references.push_back(
          {kUniformName, chart.series[0].x, std::vector<double>(chart.series[0].x.size(), 1.0), {}});
    page.panels.push_back({title, chart});
  }
  page.title = first_title(tables);
  page.caption = counted(all, {schema::trace, t.samples});
  return {"absorption_lift",
          "Calibrated: the same selector on every model, final row, head by head (mean over heads and "
          "samples), over what uniform attention with the same mask gives the same positions. Bands: "
          "bootstrap intervals over samples." +
              without_final_row(find_table(tables, schema::absorption_published)),
          page};
}

}  // namespace

Section absorption_section(std::span<const Table> tables) {
  const auto& t = schema::absorption_summary;
  Section section = empty_section(schema::kAbsorption, "How much attention do sinks and anchors swallow?");
  section.figures = {published(tables), calibrated(tables)};
  const auto all =
      find_table(tables, t).where({{t.steps, "final"}, {t.view, "per_head"}, {t.depth, "all layers"}});
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto first = all.where({{schema::trace, trace}, {t.selector, "position_0"}}),
               top = all.where({{schema::trace, trace}, {t.selector, "top_1"}});
    const auto text = [&](const TableView& row) {
      return fmt::format("{}% ({} times uniform)", with_interval(row, t.absorbed_percent),
                         with_interval(row, t.lift));
    };
    section.readings.push_back(fmt::format("{}: position 0 takes {}, the largest column of each head {}.",
                                           trace, text(first), text(top)));
  }
  return section;
}

}  // namespace buoy::report

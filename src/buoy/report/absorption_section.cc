#include <fmt/format.h>

#include "buoy/report/sections.h"

namespace buoy::report {
namespace {

// Of traces without a forward over the final row the last observed step is shown, and the reader is told.
std::string without_final_row(const TableView& published) {
  std::string names;
  for (const auto& trace : published.distinct("trace")) {
    if (published.where({{"trace", trace}}).number("saw_final_row") < 1)
      names += (names.empty() ? "" : ", ") + trace;
  }
  return names.empty() ? "" : " No final row was traced: the last observed step stands in for " + names + ".";
}

NamedFigure published(std::span<const Table> tables) {
  const auto all = find_table(tables, "absorption_published");
  const auto paper = find_table(tables, "published_absorption");
  figure::LineChart ours{"Layer", "Absorption rate (%)", {}, {}, {}, 0.0, {}};
  for (const auto& trace : all.distinct("trace")) {
    const auto rows = all.where({{"trace", trace}});
    figure::Series series{trace, rows.numbers("layer"), rows.numbers("absorbed_percent"), {}, {}};
    const auto deviation = rows.numbers("deviation");
    for (size_t i = 0; i < series.y.size(); ++i) {
      series.lower.push_back(series.y[i] - deviation[i]);
      series.upper.push_back(series.y[i] + deviation[i]);
    }
    ours.series.push_back(series);
    ours.references.push_back(reference("", rows, "floor_percent", ours.series.size() - 1));
  }
  figure::LineChart theirs{"Layer", "Absorption rate (%)", {}, {}, {}, 0.0, {}};
  const std::string any_trace = all.text("trace");
  for (const auto& model : paper.distinct("model")) {
    const auto rows = paper.where({{"trace", any_trace}, {"model", model}});
    theirs.series.push_back({model, rows.numbers("layer"), rows.numbers("absorbed_percent"), {}, {}});
  }
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  page.panels = {{"This run, published estimator", ours}, {"The paper, read off its figure", theirs}};
  return {"absorption_published",
          "Published estimator: position 0 for autoregressive models, the largest column for diffusion "
          "models, final row, heads averaged, mean over samples; bands: one standard deviation over samples. "
          "Dotted: uniform attention. The selectors differ, so the curves of a cannot be compared with each "
          "other." +
              without_final_row(all),
          page};
}

NamedFigure calibrated(std::span<const Table> tables) {
  const auto all =
      find_table(tables, "absorption_by_layer").where({{"steps", "final"}, {"view", "per_head"}});
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& [selector, title] :
       {std::pair{"position_0", "Position 0"}, std::pair{"top_1", "Largest column"}}) {
    figure::LineChart chart{"Layer", "Times uniform attention", {}, {}, figure::AxisScale::kLog, {}, {}};
    for (const auto& trace : all.distinct("trace")) {
      chart.series.push_back(curve(trace, all.where({{"trace", trace}, {"selector", selector}}),
                                   {"layer", "lift", "lift_lower", "lift_upper"}));
    }
    if (!chart.series.empty())
      chart.references.push_back(
          {"uniform", chart.series[0].x, std::vector<double>(chart.series[0].x.size(), 1.0), {}});
    page.panels.push_back({title, chart});
  }
  return {"absorption_lift",
          "Calibrated: the same selector on every model, final row, head by head (mean over heads and "
          "samples), over what uniform attention with the same mask gives the same positions. Bands: "
          "bootstrap intervals over samples." +
              without_final_row(find_table(tables, "absorption_published")),
          page};
}

}  // namespace

Section absorption_section(std::span<const Table> tables) {
  Section section{"absorption", "Absorption", "How much attention do sinks and anchors swallow?", {}, {}};
  section.figures = {published(tables), calibrated(tables)};
  const auto all = find_table(tables, "absorption_summary")
                       .where({{"steps", "final"}, {"view", "per_head"}, {"depth", "all layers"}});
  for (const auto& trace : all.distinct("trace")) {
    const auto first = all.where({{"trace", trace}, {"selector", "position_0"}}),
               top = all.where({{"trace", trace}, {"selector", "top_1"}});
    const auto text = [](const TableView& row) {
      return fmt::format(
          "{}% ({} times uniform)",
          with_interval(row.number("absorbed_percent"), row.number("lower"), row.number("upper")),
          with_interval(row.number("lift"), row.number("lift_lower"), row.number("lift_upper")));
    };
    section.readings.push_back(fmt::format("{}: position 0 takes {}, the largest column of each head {}.",
                                           trace, text(first), text(top)));
  }
  return section;
}

}  // namespace buoy::report

#include <fmt/format.h>

#include <initializer_list>
#include <optional>

#include "buoy/report/sections.h"
#include "buoy/result/schema/flow.h"

namespace buoy::report {
namespace {

NamedFigure gold(const TableView& all) {
  const auto& t = schema::flow_gold_by_layer;
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto rows = all.where({{schema::trace, trace}, {t.gold_position, "all"}});
    figure::LineChart chart{"Layer", "Answer's attention, times uniform", {}, {}, {}, 0.0, {}};
    chart.series.push_back(curve("gold document", rows, {t.layer, t.gold_lift}));
    chart.series.push_back(curve("other documents", rows, {t.layer, t.distractor_lift}));
    chart.references.push_back(
        {"uniform", chart.series[0].x, std::vector<double>(chart.series[0].x.size(), 1.0), {}});
    page.panels.push_back({trace, chart});
  }
  return {"flow_gold",
          "One-layer attention from the answer to the gold document and to the others, over what uniform "
          "attention gives documents of those lengths. Means over heads, steps and samples; bands: bootstrap "
          "intervals over samples.",
          page};
}

figure::Matrix square(const TableView& rows, const std::vector<std::string>& names,
                      const ColumnSchema& column) {
  const auto& t = schema::flow_rollout;
  figure::Matrix matrix{names.size(), names.size(), {}};
  for (const auto& from : names) {
    for (const auto& to : names)
      matrix.values.push_back(rows.where({{t.from, from}, {t.to, to}}).number(column));
  }
  return matrix;
}

std::optional<double> largest_of(std::initializer_list<figure::Matrix> matrices) {
  std::optional<double> largest;
  for (const auto& matrix : matrices) {
    for (const double value : matrix.values) {
      if (value > largest.value_or(0)) largest = value;
    }
  }
  return largest;
}

NamedFigure rollout(const TableView& all) {
  const auto& t = schema::flow_rollout;
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& trace : all.where({{t.forward, "final_row"}}).distinct(schema::trace)) {
    const auto rows = all.where(
        {{schema::trace, trace}, {t.forward, "final_row"}, {t.pooling, "sum"}, {t.all_layers, "yes"}});
    const auto names = rows.distinct(t.to);
    figure::ColorScale scale;
    scale.map = figure::ColorMap::kBlues;
    scale.low = 0;
    scale.label = "flow";
    const auto flow = square(rows, names, t.flow), uniform = square(rows, names, t.uniform);
    scale.high = largest_of({flow, uniform});  // the same colour is the same number in both
    page.panels.push_back({trace + ", rollout", figure::flow_matrix(flow, names, scale)});
    page.panels.push_back({trace + ", uniform null", figure::flow_matrix(uniform, names, scale)});
  }
  return {"flow_rollout",
          "Published rollout over all layers of the forward over the final row, heads averaged, mean over "
          "samples (rows: from, columns: to), beside the same pipeline on uniform attention, in the same "
          "colours. What both panels share says nothing about the model. The denoising steps' rollouts are "
          "in the table.",
          page};
}

}  // namespace

Section flow_section(std::span<const Table> tables) {
  const auto& t = schema::flow_gold_by_layer;
  Section section =
      empty_section(schema::kFlow, "Does the answer read the document that holds the evidence?");
  const auto& r = schema::flow_rollout;
  const auto by_layer = find_table(tables, t), rolled = find_table(tables, r);
  if (!by_layer.empty() && has_number(by_layer.numbers(t.gold_lift)))
    section.figures.push_back(gold(by_layer));
  if (has_number(rolled.where({{r.forward, "final_row"}, {r.all_layers, "yes"}}).numbers(r.flow)))
    section.figures.push_back(rollout(rolled));
  for (const auto& trace : rolled.distinct(schema::trace)) {
    if (rolled.where({{schema::trace, trace}, {r.forward, "final_row"}}).empty())
      section.left_out.push_back(
          fmt::format("The published rollout of {}: the trace holds no forward over the final row (trace "
                      "without --no-final). The denoising steps' rollouts are in the table.",
                      trace));
  }
  for (const auto& trace : by_layer.distinct(schema::trace)) {
    const auto rows = by_layer.where({{schema::trace, trace}, {t.gold_position, "all"}});
    const auto ratio = rows.numbers(t.gold_over_distractors),
               lower = rows.numbers(t.gold_over_distractors.lower),
               upper = rows.numbers(t.gold_over_distractors.upper);
    if (!has_number(ratio)) continue;
    size_t best = 0;
    for (size_t i = 0; i < ratio.size(); ++i) {
      if (!(ratio[best] >= ratio[i])) best = i;
    }
    section.readings.push_back(
        fmt::format("{}: the answer looks at the gold document {} times as much as at the others, length by "
                    "length, in layer {}, "
                    "where that ratio is largest; in layer 0 it is {}.",
                    trace, with_interval(ratio[best], lower[best], upper[best]), rows.texts(t.layer)[best],
                    with_interval(ratio[0], lower[0], upper[0])));
  }
  if (section.readings.empty())
    section.readings.push_back(
        "No sample has a gold document among others: trace --data with passages marked gold.");
  return section;
}

}  // namespace buoy::report

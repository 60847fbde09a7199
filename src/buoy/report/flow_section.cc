#include <fmt/format.h>

#include <initializer_list>
#include <optional>

#include "buoy/report/sections.h"

namespace buoy::report {
namespace {

NamedFigure gold(const TableView& all) {
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& trace : all.distinct("trace")) {
    const auto rows = all.where({{"trace", trace}, {"gold_position", "all"}});
    figure::LineChart chart{"Layer", "Answer's attention, times uniform", {}, {}, {}, 0.0, {}};
    chart.series.push_back(
        curve("gold document", rows, {"layer", "gold_lift", "gold_lift_lower", "gold_lift_upper"}));
    chart.series.push_back(
        curve("other documents", rows,
              {"layer", "distractor_lift", "distractor_lift_lower", "distractor_lift_upper"}));
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
                      const std::string& column) {
  figure::Matrix matrix{names.size(), names.size(), {}};
  for (const auto& from : names) {
    for (const auto& to : names)
      matrix.values.push_back(rows.where({{"from", from}, {"to", to}}).number(column));
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
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& trace : all.where({{"forward", "final_row"}}).distinct("trace")) {
    const auto rows =
        all.where({{"trace", trace}, {"forward", "final_row"}, {"pooling", "sum"}, {"all_layers", "yes"}});
    const auto names = rows.distinct("to");
    figure::ColorScale scale;
    scale.map = figure::ColorMap::kBlues;
    scale.low = 0;
    scale.label = "flow";
    const auto flow = square(rows, names, "flow"), uniform = square(rows, names, "uniform");
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
  Section section{
      "flow", "Region flow", "Does the answer read the document that holds the evidence?", {}, {}};
  const auto by_layer = find_table(tables, "flow_gold_by_layer"), rolled = find_table(tables, "flow_rollout");
  if (!by_layer.empty() && has_number(by_layer.numbers("gold_lift")))
    section.figures.push_back(gold(by_layer));
  if (has_number(rolled.where({{"forward", "final_row"}, {"all_layers", "yes"}}).numbers("flow")))
    section.figures.push_back(rollout(rolled));
  for (const auto& trace : rolled.distinct("trace")) {
    if (rolled.where({{"trace", trace}, {"forward", "final_row"}}).empty())
      section.left_out.push_back(
          fmt::format("The published rollout of {}: the trace holds no forward over the final row (trace "
                      "without --no-final). The denoising steps' rollouts are in the table.",
                      trace));
  }
  for (const auto& trace : by_layer.distinct("trace")) {
    const auto rows = by_layer.where({{"trace", trace}, {"gold_position", "all"}});
    const auto ratio = rows.numbers("gold_over_distractors"),
               lower = rows.numbers("gold_over_distractors_lower"),
               upper = rows.numbers("gold_over_distractors_upper");
    if (!has_number(ratio)) continue;
    size_t best = 0;
    for (size_t i = 0; i < ratio.size(); ++i) {
      if (!(ratio[best] >= ratio[i])) best = i;
    }
    section.readings.push_back(
        fmt::format("{}: the answer looks at the gold document {} times as much as at the others, length by "
                    "length, in layer {}, "
                    "where that ratio is largest; in layer 0 it is {}.",
                    trace, with_interval(ratio[best], lower[best], upper[best]), rows.texts("layer")[best],
                    with_interval(ratio[0], lower[0], upper[0])));
  }
  if (section.readings.empty())
    section.readings.push_back(
        "No sample has a gold document among others: trace --data with passages marked gold.");
  return section;
}

}  // namespace buoy::report

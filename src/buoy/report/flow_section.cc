#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/flow.h"

namespace buoy::report {
namespace {

std::vector<PartCount> layers_above_others(const TableView& all) {
  const auto& t = schema::flow_gold_by_layer;
  std::vector<PartCount> counts;
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto rows = all.where({{schema::trace, trace}, {t.gold_position, "all"}});
    if (rows.empty() || !rows.has(t.samples)) continue;
    PartCount count{trace};
    const auto lower = rows.numbers(t.gold_over_distractors.lower), samples = rows.numbers(t.samples);
    for (size_t i = 0; i < lower.size(); ++i) {
      if (!std::isfinite(lower[i])) continue;
      ++count.parts;
      count.above += lower[i] > 1;
      count.samples = count.parts == 1 ? samples[i] : std::min(count.samples, samples[i]);
    }
    counts.push_back(count);
  }
  return counts;
}

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
        {kUniformName, chart.series[0].x, std::vector<double>(chart.series[0].x.size(), 1.0), {}});
    page.panels.push_back({trace, chart});
  }
  page.title = title_of_parts({"The answer looks more at the gold document than at the others",
                               "The answer's attention on the gold document and on the others"},
                              layers_above_others(all));
  page.caption = counted(all.where({{t.gold_position, "all"}}), {schema::trace, t.samples});
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

std::string rollout_title(std::span<const Table> tables) {
  const auto& t = schema::flow_gold_by_rollout;
  const auto all =
      find_table(tables, t).where({{t.gold_position, "all"}, {t.forward, "published"}, {t.pooling, "sum"}});
  std::vector<Measured> numbers;
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto depths = all.where({{schema::trace, trace}}).numbers(t.layers);
    const double deepest = *std::max_element(depths.begin(), depths.end());
    const auto row = all.where({{schema::trace, trace}, {t.layers, fmt::format("{:g}", deepest)}});
    numbers.push_back(measured(trace, row, {t.ratio, t.samples}, row.number(t.uniform_ratio)));
  }
  return title_of({"Flow to the gold document over flow to another",
                   "Published rollout, beside the same on uniform attention", "with uniform attention", true},
                  numbers);
}

NamedFigure rollout(std::span<const Table> tables, const TableView& all) {
  const auto& t = schema::flow_rollout;
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  page.one_scale = true;
  const auto published = all.where({{t.forward, "published"}, {t.pooling, "sum"}});
  for (const auto& trace : published.distinct(schema::trace)) {
    const auto rows = published.where({{schema::trace, trace}, {t.all_layers, "yes"}});
    const auto names = rows.distinct(t.to);
    figure::ColorScale scale;
    scale.map = figure::ColorMap::kBlues;
    scale.low = 0;
    scale.label = "flow";
    page.panels.push_back(
        {trace + ", rollout", figure::flow_matrix(square(rows, names, t.flow), names, scale)});
    page.panels.push_back(
        {trace + ", uniform attention", figure::flow_matrix(square(rows, names, t.uniform), names, scale)});
  }
  page.title = rollout_title(tables);
  page.caption = counted(published.where({{t.all_layers, "yes"}}), {schema::trace, t.samples});
  return {
      "flow_rollout",
      "Published rollout over all layers of the forward over the final row, with the authors' regions, heads "
      "averaged, mean over samples (rows: from, columns: to), beside the same pipeline on uniform attention, "
      "in the same "
      "colours. What both panels share says nothing about the model. Our own rollouts are in the table.",
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
  if (has_number(rolled.where({{r.forward, "published"}, {r.all_layers, "yes"}}).numbers(r.flow)))
    section.figures.push_back(rollout(tables, rolled));
  for (const auto& trace : rolled.distinct(schema::trace)) {
    if (rolled.where({{schema::trace, trace}, {r.forward, "published"}}).empty())
      section.left_out.push_back(fmt::format(
          "The published rollout of {}: the trace holds no forward over the final row, or its "
          "rows are shifted and it has no row_mass (trace it again). Our own rollouts are in the table.",
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
        "No sample has a gold document among others: trace `data` with passages marked gold.");
  return section;
}

}  // namespace buoy::report

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/retrieval.h"

namespace buoy::report {
namespace {

figure::Matrix grid_of(const TableView& rows, const ColumnSchema& column) {
  const auto& t = schema::retrieval_by_head;
  const size_t layers = rows.distinct(t.layer).size(), heads = rows.distinct(t.head).size();
  return {layers, heads, rows.numbers(column)};
}

std::string copying_title(const TableView& by_head) {
  const auto& t = schema::retrieval_by_head;
  std::vector<PartCount> counts;
  for (const auto& trace : by_head.distinct(schema::trace)) {
    const auto rows = by_head.where({{schema::trace, trace}});
    if (!rows.has(t.above_chance) || !rows.has(t.tests)) continue;
    counts.push_back(
        {trace, rows.where({{t.above_chance, "yes"}}).size(), rows.size(), rows.number(t.tests)});
  }
  return title_of_parts(
      {"The answer is copied from the evidence beyond chance", "Retrieval scores of every head"}, counts,
      "heads");
}

std::string score_title(std::span<const Table> tables) {
  const auto& t = schema::retrieval_summary;
  const auto& h = schema::retrieval_by_head;
  const auto all = find_table(tables, t).where({{t.variant, "strict_set"}, {t.statistic, "mean score"}});
  const auto by_head = find_table(tables, h);
  std::vector<Measured> numbers;
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto row = all.where({{schema::trace, trace}}), heads = by_head.where({{schema::trace, trace}});
    if (!heads.has(h.tests)) continue;
    numbers.push_back({trace, row.number(t.value), row.number(t.value.lower), row.number(t.value.upper),
                       heads.number(h.tests), row.number(t.chance)});
  }
  return title_of(
      {"Mean strict retrieval score of all heads", "Strict retrieval score by layer", "by chance", true},
      numbers);
}

NamedFigure grids(const TableView& by_head) {
  const auto& t = schema::retrieval_by_head;
  figure::Figure page;
  // Models of few heads have narrow grids: four fit side by side.
  page.columns = by_head.distinct(t.head).size() <= 8 ? 4 : 2;
  page.letters = true;
  page.one_scale = true;
  for (const auto& trace : by_head.distinct(schema::trace)) {
    const auto rows = by_head.where({{schema::trace, trace}});
    figure::ColorScale scale;
    scale.low = 0, scale.high = 1;
    scale.label = "score";
    page.panels.push_back({trace + ": strict", figure::head_grid(grid_of(rows, t.strict_set), scale)});
    page.panels.push_back({trace + ": mass", figure::head_grid(grid_of(rows, t.mass), scale)});
  }
  page.title = copying_title(by_head);
  page.caption = counted(by_head, {schema::trace, t.tests});
  return {"retrieval_heads",
          "Every head by itself, mean over samples. Strict: score (the head's strongest key lies in the "
          "evidence and holds the token being written). Mass: attention on the evidence. Both at the step "
          "the token is revealed.",
          page};
}

NamedFigure by_layer(std::span<const Table> tables, const TableView& all) {
  const auto& t = schema::retrieval_by_layer;
  figure::LineChart chart{"Layer", "Mean score", {}, {}, {}, 0.0, {}};
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto rows = all.where({{schema::trace, trace}});
    chart.series.push_back(curve(trace, rows, {t.layer, t.strict_set}));
    chart.references.push_back(
        reference("chance", rows, {t.layer, t.chance_strict_set}, chart.series.size() - 1));
  }
  figure::Figure page;
  page.width_mm = 120;
  page.title = score_title(tables);
  page.caption = counted(all, {schema::trace, t.tests});
  page.panels = {{"", chart}};
  return {"retrieval_by_layer",
          "Strict retrieval score by layer, mean over heads and samples. Bands: bootstrap intervals over "
          "samples. "
          "Dotted: chance.",
          page};
}

}  // namespace

Section retrieval_section(std::span<const Table> tables) {
  const auto& t = schema::retrieval_summary;
  Section section = empty_section(schema::kRetrieval, "Which heads copy the answer from the evidence?");
  const auto& h = schema::retrieval_by_head;
  const auto by_head = find_table(tables, h), layers = find_table(tables, schema::retrieval_by_layer);
  if (by_head.empty()) return section;
  section.figures = {grids(by_head), by_layer(tables, layers)};
  const auto summary = find_table(tables, t).where({{t.variant, "strict_set"}});
  for (const auto& trace : summary.distinct(schema::trace)) {
    const auto of_trace = summary.where({{schema::trace, trace}});
    const auto value = [&](const std::string& statistic) {
      return of_trace.where({{t.statistic, statistic}}).number(t.value);
    };
    const auto heads = by_head.where({{schema::trace, trace}});
    const auto scores = heads.numbers(h.strict_set);
    if (!has_number(scores)) {
      section.readings.push_back(trace + ": no head has a score; retrieval_tests says what was left out.");
      continue;
    }
    const auto best = static_cast<size_t>(
        std::max_element(scores.begin(), scores.end(),
                         [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; }) -
        scores.begin());
    const auto mean = of_trace.where({{t.statistic, "mean score"}});
    section.readings.push_back(fmt::format(
        "{}: mean strict score {} (chance {:.3g}); {:.3g} of {} heads score at least 0.1, {:.3g} at least "
        "0.5; best: "
        "layer {}, head {} ({:.3g}).",
        trace, with_interval(mean, t.value), mean.number(t.chance), value("heads >= 0.1"), scores.size(),
        value("heads >= 0.5"), heads.texts(h.layer)[best], heads.texts(h.head)[best], scores[best]));
  }
  return section;
}

}  // namespace buoy::report

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

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

// Of the queries of the answer where the traces have them apart, else of all.
std::string queries_of(const TableView& all) {
  const auto& t = schema::absorption_excess;
  for (const double value : all.where({{t.queries, "answer"}}).numbers(t.excess)) {
    if (std::isfinite(value)) return "answer";
  }
  return "all";
}

std::string first_title(std::span<const Table> tables, const std::string& queries) {
  const auto& t = schema::absorption_excess;
  const auto all = find_table(tables, t).where({{t.steps, "final"},
                                                {t.view, "per_head"},
                                                {t.depth, "all layers"},
                                                {t.queries, queries},
                                                {t.selector, "position_0"}});
  std::vector<Measured> numbers;
  for (const auto& trace : all.distinct(schema::trace))
    numbers.push_back(measured(trace, all.where({{schema::trace, trace}}), {t.excess, t.samples}, 0));
  return title_of({"Excess share of position 0",
                   "Attention on position 0 and on the largest column, beyond even attention", kUniformName},
                  numbers);
}

NamedFigure calibrated(std::span<const Table> tables) {
  const auto& t = schema::absorption_excess_by_layer;
  const std::string queries = queries_of(find_table(tables, schema::absorption_excess));
  const auto all =
      find_table(tables, t).where({{t.steps, "final"}, {t.view, "per_head"}, {t.queries, queries}});
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& [selector, title] :
       {std::pair{"position_0", "Position 0"}, std::pair{"top_1", "Largest column"}}) {
    figure::LineChart chart{"Layer", "Excess share", {}, {}, {}, {}, {}};
    for (const auto& trace : all.distinct(schema::trace)) {
      chart.series.push_back(
          curve(trace, all.where({{schema::trace, trace}, {t.selector, selector}}), {t.layer, t.excess}));
    }
    if (!chart.series.empty())
      chart.references.push_back(
          {kUniformName, chart.series[0].x, std::vector<double>(chart.series[0].x.size(), 0.0), {}});
    page.panels.push_back({title, chart});
  }
  page.title = first_title(tables, queries);
  page.caption = counted(all, {schema::trace, t.samples});
  return {
      "absorption_excess",
      fmt::format("Excess share: of the attention that the mask leaves free, what a position takes beyond "
                  "even attention. The same sink has the same excess share under every mask and at every "
                  "length, so models can be compared. Final row, head by head (mean over heads and "
                  "samples), {}. Bands: bootstrap intervals over samples.",
                  queries == "answer" ? "queries of the answer, which see nearly all keys" : "all queries") +
          without_final_row(find_table(tables, schema::absorption_published)),
      page};
}

// Of models that decode blocks of different lengths.
std::optional<NamedFigure> against_lengths_of_blocks(std::span<const Table> tables) {
  const auto& t = schema::absorption_by_block_length;
  const auto all = find_table(tables, t).where({{t.view, "per_head"}, {t.queries, "answer"}});
  if (all.distinct(t.block_length).size() < 2) return std::nullopt;
  figure::LineChart chart{"Block length", "Excess share", {}, {}, {}, {}, {}};
  for (const auto& [selector, name] :
       {std::pair{"position_0", "position 0"}, std::pair{"top_1", "largest column"}}) {
    const auto rows = all.where({{t.selector, selector}});
    const auto lengths = rows.numbers(t.block_length), values = rows.numbers(t.excess),
               lower = rows.numbers(t.excess.lower), upper = rows.numbers(t.excess.upper);
    std::vector<size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lengths[a] < lengths[b]; });
    figure::Series series;
    series.name = name;
    for (const auto i : order) {
      series.x.push_back(lengths[i]), series.y.push_back(values[i]);
      series.lower.push_back(lower[i]), series.upper.push_back(upper[i]);
    }
    if (has_number(series.y)) chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return std::nullopt;
  chart.references.push_back(
      {kUniformName, chart.series[0].x, std::vector<double>(chart.series[0].x.size(), 0.0), {}});
  figure::Figure page;
  page.title = "Attention on position 0 and on the largest column against the length of blocks";
  page.caption = counted(all, {schema::trace, t.samples});
  page.panels = {{"", chart}};
  return NamedFigure{"absorption_by_block_length",
                     "Excess share at the denoising steps against the length of the blocks that are decoded: "
                     "queries of the answer, head by head, mean over heads, layers, steps and samples, with "
                     "intervals over samples; every trace is a point.",
                     page};
}

}  // namespace

Section absorption_section(std::span<const Table> tables) {
  const auto& e = schema::absorption_excess;
  Section section = empty_section(schema::kAbsorption, "How much attention do sinks and anchors swallow?");
  section.figures = {published(tables), calibrated(tables)};
  if (auto figure = against_lengths_of_blocks(tables)) section.figures.push_back(std::move(*figure));
  const auto every_excess = find_table(tables, e);
  const std::string queries = queries_of(every_excess);
  const auto excess = every_excess.where(
      {{e.steps, "final"}, {e.view, "per_head"}, {e.depth, "all layers"}, {e.queries, queries}});
  for (const auto& trace : excess.distinct(schema::trace)) {
    const auto text = [&](const std::string& selector) {
      return with_interval(excess.where({{schema::trace, trace}, {e.selector, selector}}), e.excess);
    };
    section.readings.push_back(
        fmt::format("{}: position 0 takes an excess share of {}, the largest column of each head {} (by {}).",
                    trace, text("position_0"), text("top_1"),
                    queries == "answer" ? "the queries that write the answer" : "all queries"));
  }
  return section;
}

}  // namespace buoy::report

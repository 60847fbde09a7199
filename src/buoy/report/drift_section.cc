#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "buoy/claims/claims.h"
#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/rule_names.h"
#include "buoy/result/schema/drift.h"

namespace buoy::report {
namespace {

constexpr size_t kLongestLabels = 90;  // positions whose tokens still fit below a map

// Steps as numbers where they are equally far apart, else by name.
figure::CellAxis step_axis(const std::map<double, size_t>& row_of) {
  std::vector<double> steps;
  for (const auto& [step, row] : row_of) steps.push_back(step);
  const double apart = steps.size() > 1 ? steps[1] - steps[0] : 1;
  figure::CellAxis axis{"Step", {}, steps.empty() ? 0 : steps[0], apart};
  for (size_t i = 1; i < steps.size(); ++i) {
    if (steps[i] - steps[i - 1] == apart) continue;
    for (const double step : steps) axis.names.push_back(fmt::format("{:g}", step));
    break;
  }
  return axis;
}

figure::Marks block_bounds(const figure::Matrix& matrix, const std::vector<double>& begins, double first) {
  figure::Marks bounds{"first of a block", figure::MarkKind::kLeftEdge, {}};
  for (const double begin : begins) {
    const double column = begin - first;
    if (!(column >= 0) || column >= static_cast<double>(matrix.columns)) continue;
    for (size_t row = 0; row < matrix.rows; ++row) bounds.cells.push_back({row, static_cast<size_t>(column)});
  }
  return bounds;
}

// Step x position, the paper's picture.
figure::Heatmap map_of(const TableView& rows, const std::vector<double>& block_begins) {
  const auto& t = schema::drift_map;
  const auto steps = rows.distinct(t.step), positions = rows.distinct(t.position);
  figure::Heatmap map;
  map.matrix = {steps.size(), positions.size(), {}};
  map.matrix.values.assign(steps.size() * positions.size(), std::numeric_limits<double>::quiet_NaN());
  const auto step = rows.numbers(t.step), position = rows.numbers(t.position),
             received = rows.numbers(t.received), floating = rows.numbers(t.floating),
             masked = rows.numbers(t.masked);
  const double first_position = position.empty() ? 0 : position[0];
  std::map<double, size_t> row_of;
  for (size_t i = 0; i < step.size(); ++i) row_of.try_emplace(step[i], row_of.size());
  figure::Marks floats{"floating", figure::MarkKind::kOutline, {}},
      masks{"still masked", figure::MarkKind::kDot, {}};
  for (size_t i = 0; i < step.size(); ++i) {
    const size_t row = row_of.at(step[i]);
    const auto column = static_cast<size_t>(position[i] - first_position);
    if (row >= steps.size() || column >= positions.size()) continue;
    map.matrix.values[row * positions.size() + column] = received[i];
    if (floating[i] > 0) floats.cells.push_back({row, column});
    if (masked[i] > 0) masks.cells.push_back({row, column});
  }
  map.y = step_axis(row_of);
  map.x = {"Position", {}, first_position, 1};
  if (positions.size() <= kLongestLabels) {
    const auto texts = rows.texts(t.token);
    map.x.title = "Token";
    map.x.names.assign(texts.end() - static_cast<std::ptrdiff_t>(positions.size()), texts.end());
  }
  map.colors.label = "received";
  map.colors.clip_high = 0.995;
  map.marks = {floats, masks};
  if (!block_begins.empty()) map.marks.push_back(block_bounds(map.matrix, block_begins, first_position));
  return map;
}

void add_maps(std::span<const Table> tables, Section& section) {
  const auto& t = schema::drift_map;
  const auto all = find_table(tables, t);
  const std::string rule =
      sigma_rule(find_table(tables, schema::drift_by_layer), schema::drift_by_layer.rule);
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto of_trace = all.where({{schema::trace, trace}});
    if (of_trace.distinct(t.step).size() < 2) continue;
    figure::Figure page;
    page.title =
        fmt::format("{}, sample {}, {}", trace, of_trace.text(t.sample), head_text(of_trace, t.head));
    page.caption = one_sample();
    page.one_scale = true;
    const auto begins =
        find_table(tables, schema::drift_blocks)
            .where({{schema::trace, trace}, {schema::drift_blocks.sample, of_trace.text(t.sample)}})
            .numbers(schema::drift_blocks.begin);
    for (const auto& layer : of_trace.distinct(t.layer))
      page.panels.push_back({"Layer " + layer, map_of(of_trace.where({{t.layer, layer}}), begins)});
    section.figures.push_back(
        {"drift_map_" + trace,
         fmt::format("{}, sample {}, {}: attention received by every position over the denoising steps, mean "
                     "over all queries{}. Outlined: {}. Dots: still masked.{}",
                     trace, of_trace.text(t.sample), head_text(of_trace, t.head),
                     begins.empty() ? "" : " that ran",
                     rule == kPublishedSigmaRule ? "three-sigma sets, as published" : "sets by " + rule,
                     begins.empty() ? "" : " Lines: where blocks begin. Hatched: not there yet."),
         page});
  }
}

// The text itself, coloured by what each token receives in one layer when all but the last tokens are
// revealed.
void add_strips(std::span<const Table> tables, Section& section) {
  const auto& t = schema::drift_map;
  const auto all = find_table(tables, t);
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto of_trace = all.where({{schema::trace, trace}});
    const auto layers = of_trace.distinct(t.layer), steps = of_trace.distinct(t.step);
    const auto rows = of_trace.where({{t.layer, layers[layers.size() / 2]}, {t.step, steps.back()}});
    const auto texts = rows.texts(t.token);
    const auto received = rows.numbers(t.received);
    if (texts.empty() ||
        std::all_of(texts.begin(), texts.end(), [](const auto& text) { return text.empty(); }))
      continue;
    figure::TokenStrip strip;
    strip.colors.map = figure::ColorMap::kBlues;
    strip.colors.label = "received";
    strip.colors.clip_high = 0.98;
    for (size_t i = 0; i < texts.size(); ++i)
      strip.tokens.push_back({texts[i], received[i], texts[i].starts_with("<|") || texts[i] == "(mask)"});
    const std::string where = fmt::format("{}, sample {}, layer {}, step {}, {}", trace, rows.text(t.sample),
                                          rows.text(t.layer), rows.text(t.step), head_text(rows, t.head));
    figure::Figure page;
    page.title = where;
    page.caption = one_sample();
    page.panels = {{"", strip}};
    section.figures.push_back(
        {"drift_text_" + trace,
         where + ": the tokens, coloured by the attention they receive, mean over all queries.", page});
  }
}

// A point of fewer samples is not drawn; one of fewer than claims::kFewestSamples is marked: joined to its
// neighbours it would look as sure as they are.
constexpr double kFewestDrawn = 3;

figure::Series sure_curve(const std::string& name, const TableView& rows) {
  const auto& t = schema::drift_by_layer;
  figure::Series series = curve(name, rows, {t.layer, t.value});
  const auto samples = rows.numbers(t.samples);
  for (size_t i = 0; i < samples.size(); ++i) {
    series.thin.push_back(samples[i] < static_cast<double>(claims::kFewestSamples));
    if (samples[i] >= kFewestDrawn) continue;
    for (auto* values : {&series.y, &series.lower, &series.upper}) {
      if (!values->empty()) (*values)[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return series;
}

std::string overlap_title(std::span<const Table> tables) {
  const auto& t = schema::drift_summary;
  const auto all = find_table(tables, t).where(
      {{t.view, "head_mean"}, {t.positions, "all"}, {t.depth, "all layers"}, {t.scalar, "jaccard"}});
  const auto sets = all.where({{t.rule, sigma_rule(all, t.rule)}});
  std::vector<Measured> numbers;
  for (const auto& trace : sets.distinct(schema::trace)) {
    const auto row = sets.where({{schema::trace, trace}});
    numbers.push_back(measured(trace, row, {t.value, t.samples}, row.number(t.null)));
  }
  return title_of({"Overlap (Jaccard) of floating sets from step to step",
                   "Stability and direction of floating tokens over the steps", "of random sets", true},
                  numbers);
}

NamedFigure scalars(std::span<const Table> tables) {
  const auto& t = schema::drift_by_layer;
  const auto all = find_table(tables, t).where({{t.view, "head_mean"}, {t.positions, "all"}});
  figure::LineChart stability{"Layer", "Jaccard of consecutive sets", {}, {}, {}, 0.0, 1.0};
  figure::LineChart direction{"Layer", "Spearman of top position", {}, {}, {}, -1.0, 1.0};
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto of_trace = all.where({{schema::trace, trace}});
    // After one forward nothing can drift; where nothing floats there are no sets to compare, and where the
    // strongest position never moves it has no direction.
    const auto sets = of_trace.where({{t.rule, sigma_rule(all, t.rule)}, {t.scalar, "jaccard"}});
    if (has_number(sets.numbers(t.value))) {
      stability.series.push_back(sure_curve(trace, sets));
      stability.references.push_back(
          reference("random sets", sets, {t.layer, t.null}, stability.series.size() - 1));
    }
    const auto path = of_trace.where({{t.scalar, "spearman_step"}}),
               frontier = of_trace.where({{t.scalar, "spearman_frontier"}});
    if (has_number(path.numbers(t.value)))
      direction.series.push_back(sure_curve(trace + ", with step", path));
    if (has_number(frontier.numbers(t.value)))
      direction.series.push_back(sure_curve(trace + ", with frontier", frontier));
  }
  stability.thin_name = direction.thin_name = fmt::format("fewer than {} samples", claims::kFewestSamples);
  if (!direction.series.empty()) {
    const auto& layers = direction.series[0].x;
    direction.references.push_back({"no trend", layers, std::vector<double>(layers.size(), 0.0), {}});
  }
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  page.title = overlap_title(tables);
  const auto sets = all.where({{t.rule, sigma_rule(all, t.rule)}, {t.scalar, "jaccard"}}),
             paths = all.where({{t.scalar, "spearman_step"}});
  page.caption =
      fmt::format("Sets: {}. Paths: {}.", counted(sets, {schema::trace, t.samples, "sample", kFewestDrawn}),
                  counted(paths, {schema::trace, t.samples, "sample", kFewestDrawn}));
  page.panels = {{"Do anchors stay?", stability}, {"Do they move right?", direction}};
  return {"drift_by_layer",
          fmt::format(
              "Stability of the floating set from step to step, beside that of random sets of the same "
              "size, and rank correlation of the strongest position with the step and with the unmasking "
              "frontier, where it moves. Heads averaged, means over samples. Bands: bootstrap intervals "
              "over samples. Crosses: layers in which fewer than {} samples have a value; with fewer than "
              "{:g} they are not drawn.",
              claims::kFewestSamples, kFewestDrawn),
          page};
}

// Of models that decode blocks of different lengths: what becomes of drift as the blocks grow.
std::optional<NamedFigure> against_block_length(std::span<const Table> tables) {
  const auto& t = schema::drift_by_block_length;
  const auto all = find_table(tables, t);
  if (all.distinct(t.block_length).size() < 2) return std::nullopt;
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  page.title = "Drift against the length of blocks";
  page.caption = counted(all, {schema::trace, t.samples, "sample", kFewestDrawn});
  const auto add_panel = [&](const std::string& title, const std::string& y, const TableView& rows,
                             bool nulls) {
    figure::LineChart chart{"Block length", y, {}, {}, {}, {}, {}};
    // Points by length; of several traces with one length each is a point.
    std::vector<std::pair<double, size_t>> order;
    const auto lengths = rows.numbers(t.block_length);
    for (size_t i = 0; i < lengths.size(); ++i) order.emplace_back(lengths[i], i);
    std::sort(order.begin(), order.end());
    const auto values = rows.numbers(t.value), lower = rows.numbers(t.value.lower),
               upper = rows.numbers(t.value.upper), null = rows.numbers(t.null);
    figure::Series series;
    figure::ReferenceCurve random{"random sets", {}, {}, 0};
    for (const auto& [length, i] : order) {
      series.x.push_back(length), series.y.push_back(values[i]);
      series.lower.push_back(lower[i]), series.upper.push_back(upper[i]);
      random.x.push_back(length), random.y.push_back(null[i]);
    }
    if (!has_number(series.y)) return;
    chart.series = {series};
    if (nulls) chart.references = {random};
    page.panels.push_back({title, chart});
  };
  const auto of = [&](const std::string& scalar, const std::string& rule) {
    return all.where({{t.scalar, scalar}, {t.rule, rule}});
  };
  add_panel("Do anchors stay?", "Jaccard of consecutive sets", of("jaccard", sigma_rule(all, t.rule)), true);
  add_panel("How far does the strongest position go?", "mean distance of its moves, positions",
            of("mean_distance", ""), false);
  if (page.panels.empty()) return std::nullopt;
  return NamedFigure{
      "drift_by_block_length",
      "Overlap of floating sets from step to step, and distance that the strongest position moves, "
      "against the length of the blocks that are decoded. Heads and layers averaged, means over "
      "samples with intervals; every trace is a point.",
      page};
}

// " (1 sample)" behind a number that too few samples gave for a verdict.
std::string if_few(double samples) {
  if (!(samples > 0) || samples >= static_cast<double>(claims::kFewestSamples)) return "";
  return fmt::format(" ({:g} sample{})", samples, samples == 1 ? "" : "s");
}

}  // namespace

Section drift_section(std::span<const Table> tables) {
  const auto& t = schema::drift_summary;
  Section section = empty_section(schema::kDrift, "Do anchors move as tokens are revealed?");
  add_maps(tables, section);
  const auto summary =
      find_table(tables, t).where({{t.view, "head_mean"}, {t.positions, "all"}, {t.depth, "all layers"}});
  bool any = false;
  for (const auto& trace : summary.distinct(schema::trace)) {
    const auto value = [&](const std::string& scalar) {
      const auto row = summary.where({{schema::trace, trace}, {t.scalar, scalar}});
      return with_interval(row, t.value) + if_few(row.number(t.samples));
    };
    if (value("static") == "not defined") {
      section.readings.push_back(trace + ": one forward over the final row; nothing can drift.");
      continue;
    }
    any = true;
    section.readings.push_back(fmt::format(
        "{}: Jaccard of consecutive sets {}; the strongest position never moves in a share {} of samples and "
        "layers; "
        "where it moves, its rank correlation with the step is {}, given the unmasking frontier {}.",
        trace, value("jaccard"), value("static"), value("spearman_step"),
        value("spearman_step_given_frontier")));
  }
  if (any) section.figures.push_back(scalars(tables));
  if (auto figure = against_block_length(tables)) section.figures.push_back(std::move(*figure));
  add_strips(tables, section);
  return section;
}

}  // namespace buoy::report

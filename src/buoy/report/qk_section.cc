#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/qk.h"

namespace buoy::report {
namespace {

std::string angle_title(std::span<const Table> tables) {
  const auto& t = schema::qk_depth;
  const auto all = find_table(tables, t).where(
      {{t.set, "top_1"}, {t.stage, "after"}, {t.statistic, "fraction due to angle of the deep third"}});
  std::vector<Measured> numbers;
  for (const auto& trace : all.distinct(schema::trace))
    numbers.push_back(measured(trace, all.where({{schema::trace, trace}}), {t.value, t.samples}, 0.5));
  return title_of({"Fraction of the strongest column's advantage due to angle, deep third",
                   "Advantage of the strongest column in q.k, and its parts", "one half"},
                  numbers);
}

NamedFigure by_layer(std::span<const Table> tables) {
  const auto& t = schema::qk_by_layer;
  const auto all = find_table(tables, t).where({{t.set, "top_1"}});
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& [stage, title] :
       {std::pair{"after", "after rotation"}, std::pair{"before", "before rotation"}}) {
    for (const auto& trace : all.distinct(schema::trace)) {
      const auto rows = all.where({{schema::trace, trace}, {t.stage, stage}});
      figure::LineChart chart{"Layer", "Advantage in q.k", {}, {}, {}, {}, {}};
      for (const Interval* part : {&t.advantage, &t.direction, &t.scale, &t.residual})
        chart.series.push_back(curve(std::string(part->name()), rows, {t.layer, *part}));
      chart.references.push_back(
          {"no advantage", chart.series[0].x, std::vector<double>(chart.series[0].x.size(), 0.0), {}});
      page.panels.push_back({fmt::format("{}, {}", trace, title), chart});
    }
  }
  page.title = angle_title(tables);
  page.caption = counted(all, {schema::trace, t.samples});
  return {"qk_by_layer",
          "Advantage of the strongest column of each head over the others in q.k, split exactly into "
          "direction (angle), scale (norms) and the residual covariance; self pairs left out. Means over "
          "steps, heads and samples; bands: bootstrap intervals over samples.",
          page};
}

// A column of a table and the title of its panel.
using Quantity = std::pair<const ColumnSchema*, const char*>;

// Columns of one layer of one sample: where the floating ones stand in q.k, cosine and norms.
figure::Figure columns_of(const TableView& rows) {
  const auto& t = schema::qk_columns;
  figure::Figure page;
  page.columns = 3;
  const auto position = rows.numbers(t.position);
  const auto floating = rows.texts(t.floating);
  for (const auto& [column, title] :
       {Quantity{&t.dot, "q.k"}, Quantity{&t.cosine, "cosine"}, Quantity{&t.norm_product, "|q||k|"}}) {
    figure::LineChart chart{"Key position", title, {}, {}, {}, {}, {}};
    const auto values = rows.numbers(*column);
    figure::Series anchors{"floating", {}, {}, {}, {}};
    for (size_t i = 0; i < values.size(); ++i) {
      if (floating[i] != "yes") continue;
      // A gap behind every point keeps them from being joined.
      anchors.x.insert(anchors.x.end(), {position[i], position[i]});
      anchors.y.insert(anchors.y.end(), {values[i], std::numeric_limits<double>::quiet_NaN()});
    }
    chart.series.push_back({"all keys", position, values, {}, {}});
    if (!anchors.x.empty()) chart.series.push_back(anchors);
    page.panels.push_back({title, chart});
  }
  return page;
}

// The three maps of the paper, where queries and keys were traced.
figure::Figure maps_of(const TableView& rows) {
  const auto& t = schema::qk_pairs;
  figure::Figure page;
  page.columns = 3;
  const auto query = rows.numbers(t.query), key = rows.numbers(t.key);
  // A causal query has no pair with a later key: those cells stay without data.
  const auto side = static_cast<size_t>(*std::max_element(query.begin(), query.end())) + 1;
  for (const auto& [column, title] :
       {Quantity{&t.dot, "q.k"}, Quantity{&t.cosine, "cosine"}, Quantity{&t.norm_product, "|q||k|"}}) {
    figure::Heatmap map;
    map.matrix = {side, side, std::vector<double>(side * side, std::numeric_limits<double>::quiet_NaN())};
    const auto values = rows.numbers(*column);
    for (size_t i = 0; i < values.size(); ++i)
      map.matrix.values.at(static_cast<size_t>(query[i]) * side + static_cast<size_t>(key[i])) = values[i];
    map.x.title = "Key position";
    map.y.title = "Query position";
    map.square_cells = true;
    map.colors.label = title;
    page.panels.push_back({title, map});
  }
  return page;
}

void add_maps(std::span<const Table> tables, Section& section) {
  const auto& t = schema::qk_columns;
  const auto columns = find_table(tables, t).where({{t.stage, "after"}});
  const auto pairs = find_table(tables, schema::qk_pairs);
  for (const auto& trace : columns.distinct(schema::trace)) {
    const auto matrix = pairs.where({{schema::trace, trace}}), rows = columns.where({{schema::trace, trace}});
    const bool dense = !matrix.empty();
    const std::string where = fmt::format("{}, sample {}, layer {}, step {}, {}", trace, rows.text(t.sample),
                                          rows.text(t.layer), rows.text(t.step), head_text(rows, t.head));
    figure::Figure page = dense ? maps_of(matrix) : columns_of(rows);
    page.title = where;
    page.caption = one_sample();
    section.figures.push_back(
        {fmt::format("qk_{}_{}", dense ? "maps" : "columns", trace),
         fmt::format("{}: {}", where,
                     dense ? "q.k, cosine and norm product of every query with every key it sees."
                           : fmt::format("mean over the other queries of q.k, cosine and norm product by key "
                                         "(trace with {} among `observe` for the whole maps).",
                                         schema::qk_pairs.needs().observe)),
         page});
  }
}

}  // namespace

Section qk_section(std::span<const Table> tables) {
  const auto& t = schema::qk_depth;
  Section section =
      empty_section(schema::kQk, "Is the advantage of floating columns one of angle or of length?");
  section.figures.push_back(by_layer(tables));
  add_maps(tables, section);
  const auto depth = find_table(tables, t).where({{t.set, "top_1"}, {t.stage, "after"}});
  for (const auto& trace : depth.distinct(schema::trace)) {
    const auto value = [&](const std::string& statistic) {
      const auto row = depth.where({{schema::trace, trace}, {t.statistic, statistic}});
      return with_interval(row, t.value);
    };
    section.readings.push_back(fmt::format(
        "{}: the angle gives a fraction {} of the advantage of the strongest column in the shallow third and "
        "{} in the "
        "deep third; slope over depth {}.",
        trace, value("fraction due to angle of the shallow third"),
        value("fraction due to angle of the deep third"), value("slope of the fraction due to angle")));
  }
  return section;
}

}  // namespace buoy::report

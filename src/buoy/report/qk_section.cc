#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "buoy/report/sections.h"

namespace buoy::report {
namespace {

NamedFigure by_layer(std::span<const Table> tables) {
  const auto all = find_table(tables, "qk_by_layer").where({{"set", "top_1"}});
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& [stage, title] :
       {std::pair{"after", "after rotation"}, std::pair{"before", "before rotation"}}) {
    for (const auto& trace : all.distinct("trace")) {
      const auto rows = all.where({{"trace", trace}, {"stage", stage}});
      figure::LineChart chart{"Layer", "Advantage in q.k", {}, {}, {}, {}, {}};
      for (const char* part : {"advantage", "direction", "scale", "residual"}) {
        chart.series.push_back(
            curve(part, rows, {"layer", part, std::string(part) + "_lower", std::string(part) + "_upper"}));
      }
      chart.references.push_back(
          {"", chart.series[0].x, std::vector<double>(chart.series[0].x.size(), 0.0), {}});
      page.panels.push_back({fmt::format("{}, {}", trace, title), chart});
    }
  }
  return {"qk_by_layer",
          "Advantage of the strongest column of each head over the others in q.k, split exactly into "
          "direction (angle), scale (norms) and the residual covariance; self pairs left out. Means over "
          "steps, heads and samples; bands: bootstrap intervals over samples.",
          page};
}

constexpr std::pair<const char*, const char*> kQuantities[] = {
    {"dot", "q.k"}, {"cosine", "cosine"}, {"norm_product", "|q||k|"}};

// Columns of one layer of one sample: where the floating ones stand in q.k, cosine and norms.
figure::Figure columns_of(const TableView& rows) {
  figure::Figure page;
  page.columns = 3;
  const auto position = rows.numbers("position");
  const auto floating = rows.texts("floating");
  for (const auto& [column, title] : kQuantities) {
    figure::LineChart chart{"Key position", title, {}, {}, {}, {}, {}};
    const auto values = rows.numbers(column);
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
  figure::Figure page;
  page.columns = 3;
  const auto query = rows.numbers("query"), key = rows.numbers("key");
  // A causal query has no pair with a later key: those cells stay without data.
  const auto side = static_cast<size_t>(*std::max_element(query.begin(), query.end())) + 1;
  for (const auto& [column, title] : kQuantities) {
    figure::Heatmap map;
    map.matrix = {side, side, std::vector<double>(side * side, std::numeric_limits<double>::quiet_NaN())};
    const auto values = rows.numbers(column);
    for (size_t i = 0; i < values.size(); ++i)
      map.matrix.values.at(static_cast<size_t>(query[i]) * side + static_cast<size_t>(key[i])) = values[i];
    map.x.title = "Key position";
    map.y.title = "Query position";
    map.square_cells = true;
    page.panels.push_back({title, map});
  }
  return page;
}

void add_maps(std::span<const Table> tables, Section& section) {
  const auto columns = find_table(tables, "qk_columns").where({{"stage", "after"}});
  const auto pairs = find_table(tables, "qk_pairs");
  for (const auto& trace : columns.distinct("trace")) {
    const auto matrix = pairs.where({{"trace", trace}}), rows = columns.where({{"trace", trace}});
    const bool dense = !matrix.empty();
    const std::string where = fmt::format("{}, sample {}, layer {}, step {}, {}", trace, rows.text("sample"),
                                          rows.text("layer"), rows.text("step"), head_text(rows));
    figure::Figure page = dense ? maps_of(matrix) : columns_of(rows);
    page.title = where;
    section.figures.push_back(
        {fmt::format("qk_{}_{}", dense ? "maps" : "columns", trace),
         fmt::format("{}: {}", where,
                     dense ? "q.k, cosine and norm product of every query with every key it sees."
                           : "mean over the other queries of q.k, cosine and norm product by key (trace with "
                             "states among --observe for the whole maps)."),
         page});
  }
}

}  // namespace

Section qk_section(std::span<const Table> tables) {
  Section section{
      "qk", "QK decomposition", "Is the advantage of floating columns one of angle or of length?", {}, {}};
  section.figures.push_back(by_layer(tables));
  add_maps(tables, section);
  const auto depth = find_table(tables, "qk_depth").where({{"set", "top_1"}, {"stage", "after"}});
  for (const auto& trace : depth.distinct("trace")) {
    const auto value = [&](const std::string& statistic) {
      const auto row = depth.where({{"trace", trace}, {"statistic", statistic}});
      return with_interval(row.number("value"), row.number("value_lower"), row.number("value_upper"));
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

#include <fmt/format.h>

#include "report/sections.h"

namespace buoy::report {
namespace {

NamedFigure by_layer(std::span<const Table> tables) {
  const auto all = find_table(tables, "qk_by_layer").where({{"set", "top_1"}});
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  for (const auto& [stage, title] :
       {std::pair{"after", "After rotation"}, std::pair{"before", "Before rotation"}}) {
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
          "direction (angle), "
          "scale (norms) and the residual covariance; self pairs left out. Bands: 95% bootstrap intervals.",
          page};
}

// Columns of one layer of one sample: where the floating ones stand in q.k, cosine and norms.
void add_columns(std::span<const Table> tables, Section& section) {
  const auto all = find_table(tables, "qk_columns").where({{"stage", "after"}});
  for (const auto& trace : all.distinct("trace")) {
    const auto rows = all.where({{"trace", trace}});
    figure::Figure page;
    page.columns = 3;
    for (const auto& [column, title] :
         {std::pair{"dot", "q.k"}, std::pair{"cosine", "cosine"}, std::pair{"norm_product", "|q||k|"}}) {
      figure::LineChart chart{"Key position", title, {}, {}, {}, {}, {}};
      chart.series.push_back({"", rows.numbers("position"), rows.numbers(column), {}, {}});
      page.panels.push_back({title, chart});
    }
    std::string name = fmt::format("qk_columns_{}", section.figures.size());
    section.figures.push_back(
        {name,
         fmt::format("{}, sample {}, layer {}, step {}, heads: {}: mean over queries of q.k, cosine and norm "
                     "product by "
                     "key.",
                     trace, rows.text("sample"), rows.text("layer"), rows.text("step"), rows.text("head")),
         page});
  }
}

}  // namespace

Section qk_section(std::span<const Table> tables) {
  Section section{
      "qk", "QK decomposition", "Is the advantage of floating columns one of angle or of length?", {}, {}};
  section.figures.push_back(by_layer(tables));
  add_columns(tables, section);
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

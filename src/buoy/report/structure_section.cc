#include <fmt/format.h>

#include "buoy/report/sections.h"

namespace buoy::report {

Section structure_section(std::span<const Table> tables) {
  Section section{"structure",
                  "Structure or content",
                  "Do shallow layers look at structure and deep layers at content?",
                  {},
                  {}};
  const auto all = find_table(tables, "structure_by_layer");
  figure::Figure page;
  page.columns = 3;
  page.letters = true;
  struct Part {
    const char *title, *dimension, *name, *queries;
  };
  for (const Part& part : {Part{"Structural tokens, all queries", "kind", "structural", "all"},
                           Part{"Content tokens, all queries", "kind", "content", "all"},
                           Part{"Evidence, answer queries", "gold", "evidence", "answer"}}) {
    figure::LineChart chart{"Layer", "Times uniform attention", {}, {}, {}, {}, {}};
    for (const auto& trace : all.distinct("trace")) {
      const auto rows = all.where(
          {{"trace", trace}, {"queries", part.queries}, {"dimension", part.dimension}, {"class", part.name}});
      if (has_number(rows.numbers("lift")))
        chart.series.push_back(curve(trace, rows, {"layer", "lift", "lift_lower", "lift_upper"}));
    }
    if (chart.series.empty()) continue;
    chart.references.push_back(
        {"uniform", chart.series[0].x, std::vector<double>(chart.series[0].x.size(), 1.0), {}});
    page.panels.push_back({part.title, chart});
  }
  if (!page.panels.empty()) {
    section.figures.push_back(
        {"structure_by_layer",
         "Attention on each class over what uniform attention with the same mask gives it; means over heads, "
         "steps and samples. Bands: bootstrap intervals over samples.",
         page});
  }
  const auto depth = find_table(tables, "structure_depth").where({{"quantity", "lift"}, {"depth", "slope"}});
  for (const auto& trace : depth.distinct("trace")) {
    const auto slope = [&](const char* name, const char* queries) {
      const auto row = depth.where({{"trace", trace}, {"class", name}, {"queries", queries}});
      return with_interval(row.number("value"), row.number("lower"), row.number("upper"));
    };
    section.readings.push_back(
        fmt::format("{}: slopes over the depth of the model, of straight lines fitted through all layers "
                    "(single layers may lie far off): lift of structural tokens {}, of content tokens {}, "
                    "the answer's lift on the evidence {}.",
                    trace, slope("structural", "all"), slope("content", "all"), slope("evidence", "answer")));
  }
  return section;
}

}  // namespace buoy::report

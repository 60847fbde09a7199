#include <fmt/format.h>

#include "buoy/report/sections.h"
#include "buoy/result/schema/structure.h"

namespace buoy::report {

Section structure_section(std::span<const Table> tables) {
  const auto& t = schema::structure_by_layer;
  Section section =
      empty_section(schema::kStructure, "Do shallow layers look at structure and deep layers at content?");
  const auto all = find_table(tables, t);
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
    for (const auto& trace : all.distinct(schema::trace)) {
      const auto rows = all.where({{schema::trace, trace},
                                   {t.queries, part.queries},
                                   {t.dimension, part.dimension},
                                   {t.token_class, part.name}});
      if (has_number(rows.numbers(t.lift))) chart.series.push_back(curve(trace, rows, {t.layer, t.lift}));
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
  const auto& d = schema::structure_depth;
  const auto depth = find_table(tables, d).where({{d.quantity, "lift"}, {d.depth, "slope"}});
  for (const auto& trace : depth.distinct(schema::trace)) {
    const auto slope = [&](const char* name, const char* queries) {
      const auto row = depth.where({{schema::trace, trace}, {d.token_class, name}, {d.queries, queries}});
      return with_interval(row, d.value);
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

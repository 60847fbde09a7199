#include <fmt/format.h>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/structure.h"

namespace buoy::report {
namespace {

std::string slope_title(std::span<const Table> tables) {
  const auto& t = schema::structure_depth;
  const auto all = find_table(tables, t).where(
      {{t.quantity, "lift"}, {t.depth, "slope"}, {t.token_class, "structural"}, {t.queries, "all"}});
  std::vector<Measured> numbers;
  for (const auto& trace : all.distinct(schema::trace)) {
    const auto row = all.where({{schema::trace, trace}});
    numbers.push_back(measured(trace, row, {t.value, t.samples}, 0));
  }
  return title_of({"Slope over depth of attention on structural tokens (times uniform)",
                   "Attention on structure, content and evidence by layer", "none"},
                  numbers);
}

}  // namespace

Section structure_section(std::span<const Table> tables) {
  const auto& t = schema::structure_by_layer;
  Section section =
      empty_section(schema::kStructure, "Do shallow layers look at structure and deep layers at content?");
  const auto all = find_table(tables, t);
  figure::Figure page;
  page.columns = 3;
  page.letters = true;
  constexpr const char* kLift = "Times uniform attention";
  struct Part {
    const char *title, *dimension, *name, *queries, *axis;
  };
  for (const Part& part : {Part{"Structural tokens, all queries", "kind", "structural", "all", kLift},
                           Part{"Content tokens, all queries", "kind", "content", "all", kLift},
                           Part{"Evidence, answer queries", "gold", "evidence", "answer",
                                "Answer's attention, times uniform"}}) {
    figure::LineChart chart{"Layer", part.axis, {}, {}, {}, {}, {}};
    for (const auto& trace : all.distinct(schema::trace)) {
      const auto rows = all.where({{schema::trace, trace},
                                   {t.queries, part.queries},
                                   {t.dimension, part.dimension},
                                   {t.token_class, part.name}});
      if (has_number(rows.numbers(t.lift))) chart.series.push_back(curve(trace, rows, {t.layer, t.lift}));
    }
    if (chart.series.empty()) continue;
    chart.references.push_back(
        {kUniformName, chart.series[0].x, std::vector<double>(chart.series[0].x.size(), 1.0), {}});
    page.panels.push_back({part.title, chart});
  }
  if (!page.panels.empty()) {
    page.title = slope_title(tables);
    page.caption =
        counted(all.where({{t.queries, "all"}, {t.dimension, "kind"}}), {schema::trace, t.samples});
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

#include <fmt/format.h>

#include "buoy/report/sections.h"
#include "buoy/result/schema/published.h"

namespace buoy::report {

Section published_section(std::span<const Table> tables) {
  Section section = empty_section(schema::kPublished, "What did others measure, and what is it here?");
  const auto& t = schema::published_values;
  const auto rows = find_table(tables, t);
  for (const auto& paper : rows.distinct(t.paper)) {
    const auto of_paper = rows.where({{t.paper, paper}});
    std::size_t comparable = 0;
    for (const auto& answer : of_paper.texts(t.comparable)) comparable += answer == "yes" ? 1 : 0;
    section.readings.push_back(fmt::format("{}: {} of {} numbers of this study can be compared.", paper,
                                           comparable, of_paper.size()));
  }
  return section;
}

}  // namespace buoy::report

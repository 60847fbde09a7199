#include "buoy/report/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/report/sections.h"

namespace buoy::report {

Section build_section(const std::string& analysis, std::span<const Table> tables) {
  struct Builder {
    const char* name;
    Section (*build)(std::span<const Table> tables);
  };
  constexpr Builder kBuilders[] = {
      {"floating", floating_section},     {"drift", drift_section},
      {"absorption", absorption_section}, {"qk", qk_section},
      {"retrieval", retrieval_section},   {"flow", flow_section},
      {"structure", structure_section},   {"tasks", tasks_section},
      {"evaluation", evaluation_section},
  };
  for (const auto& builder : kBuilders) {
    if (analysis == builder.name) return builder.build(tables);
  }
  throw_usage_error({"report", "a known analysis", analysis});
}

figure::Series curve(const std::string& name, const TableView& rows, const CurveColumns& columns) {
  figure::Series series{name, rows.numbers(columns.x), rows.numbers(columns.y), {}, {}};
  if (columns.lower.empty() || columns.upper.empty()) return series;
  series.lower = rows.numbers(columns.lower);
  series.upper = rows.numbers(columns.upper);
  // Below two samples there are no intervals, and a band of nothing is none.
  if (!has_number(series.lower) || !has_number(series.upper)) series.lower = series.upper = {};
  return series;
}

figure::ReferenceCurve reference(const std::string& name, const TableView& rows, const std::string& y,
                                 size_t of_series) {
  return {name, rows.numbers("layer"), rows.numbers(y), of_series};
}

std::string head_text(const TableView& rows) {
  const std::string head = rows.text("head");
  return head == "mean" ? "heads averaged" : "head " + head;
}

bool has_number(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

std::string with_interval(double value, double lower, double upper) {
  if (!std::isfinite(value)) return "not defined";
  if (!std::isfinite(lower) || !std::isfinite(upper)) return fmt::format("{:.3g}", value);
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", value, lower, upper);
}

}  // namespace buoy::report

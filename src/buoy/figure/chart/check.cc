#include <fmt/format.h>

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/figure/chart/figure.h"

namespace buoy::figure {
namespace {

struct Count {
  size_t expected;
  size_t found;
};

void require_count(const std::string& where, const Count& count) {
  if (count.expected == count.found) return;
  throw_usage_error({where, fmt::format("{}", count.expected), fmt::format("{}", count.found)});
}

void require_some(const std::string& where, size_t count) {
  if (count == 0) throw_usage_error({where, "at least one", "none"});
}

struct Limits {
  double least;
  double most;
};

void require_within(const std::string& where, const Limits& limits, double value) {
  if (value >= limits.least && value <= limits.most) return;
  throw_usage_error({where, fmt::format("{} to {}", limits.least, limits.most), fmt::format("{}", value)});
}

void check_axis(const std::string& where, const CellAxis& axis, size_t cells) {
  if (!axis.names.empty()) require_count(where + ": names", {cells, axis.names.size()});
  if (axis.step == 0 || !std::isfinite(axis.step) || !std::isfinite(axis.first)) {
    throw_usage_error({where + ": first, step", "finite numbers, step not 0",
                       fmt::format("{} and {}", axis.first, axis.step)});
  }
}

void check(const std::string& panel, const Heatmap& map) {
  const auto where = panel + ": heatmap";
  require_some(where + ": rows", map.matrix.rows);
  require_some(where + ": columns", map.matrix.columns);
  require_count(where + ": values", {map.matrix.rows * map.matrix.columns, map.matrix.values.size()});
  require_within(where + ": decimals", {0, 9}, map.decimals);
  check_axis(where + ": x axis", map.x, map.matrix.columns);
  check_axis(where + ": y axis", map.y, map.matrix.rows);
  for (const auto& marks : map.marks) {
    for (const auto& cell : marks.cells) {
      if (cell.row < map.matrix.rows && cell.column < map.matrix.columns) continue;
      throw_usage_error({where + ": marks '" + marks.name + "'",
                         fmt::format("a cell of {} rows and {} columns", map.matrix.rows, map.matrix.columns),
                         fmt::format("row {}, column {}", cell.row, cell.column)});
    }
  }
}

struct Interval {
  const std::vector<double>& lower;
  const std::vector<double>& upper;
};

void check_interval(const std::string& where, const Interval& interval, size_t count) {
  if (interval.lower.empty() && interval.upper.empty()) return;
  require_count(where + ": lower", {count, interval.lower.size()});
  require_count(where + ": upper", {count, interval.upper.size()});
  for (size_t i = 0; i < count; ++i) {
    if (!(interval.lower[i] > interval.upper[i])) continue;
    throw_usage_error({fmt::format("{}: interval {}", where, i), "lower <= upper",
                       fmt::format("{} and {}", interval.lower[i], interval.upper[i])});
  }
}

void check_x(const std::string& where, const std::vector<double>& x) {
  require_some(where + ": points", x.size());
  for (const double value : x) {
    if (std::abs(value) <= 1e300) continue;
    throw_usage_error({where + ": x", "finite numbers", fmt::format("{}", value)});
  }
}

void check(const std::string& panel, const LineChart& chart) {
  const auto where = panel + ": line chart";
  require_some(where + ": series", chart.series.size());
  for (const auto& series : chart.series) {
    const auto name = where + ": series '" + series.name + "'";
    check_x(name, series.x);
    require_count(name + ": y", {series.x.size(), series.y.size()});
    check_interval(name, {series.lower, series.upper}, series.x.size());
  }
  for (const auto& curve : chart.references) {
    const auto name = where + ": reference '" + curve.name + "'";
    check_x(name, curve.x);
    require_count(name + ": y", {curve.x.size(), curve.y.size()});
    if (curve.of_series && *curve.of_series >= chart.series.size()) {
      throw_usage_error({name + ": of_series", fmt::format("less than {}", chart.series.size()),
                         fmt::format("{}", *curve.of_series)});
    }
  }
  const double least = chart.y_scale == AxisScale::kLog ? 1e-300 : -1e300;
  for (const auto& limit : {chart.y_low, chart.y_high}) {
    if (limit) require_within(where + ": y_low, y_high", {least, 1e300}, *limit);
  }
  if (chart.y_low && chart.y_high && !(*chart.y_low < *chart.y_high)) {
    throw_usage_error(
        {where + ": y_low, y_high", "y_low < y_high", fmt::format("{} and {}", *chart.y_low, *chart.y_high)});
  }
}

void check(const std::string& panel, const BarChart& chart) {
  const auto where = panel + ": bar chart";
  require_some(where + ": groups", chart.groups.size());
  require_some(where + ": series", chart.series.size());
  for (const auto& series : chart.series) {
    const auto name = where + ": series '" + series.name + "'";
    require_count(name + ": values", {chart.groups.size(), series.values.size()});
    check_interval(name, {series.lower, series.upper}, chart.groups.size());
  }
  if (!chart.references.empty()) {
    require_count(where + ": references", {chart.groups.size(), chart.references.size()});
  }
}

void check(const std::string& panel, const DotChart& chart) {
  const auto where = panel + ": dot chart";
  require_some(where + ": groups", chart.groups.size());
  require_some(where + ": series", chart.series.size());
  for (const auto& series : chart.series)
    require_count(where + ": series '" + series.name + "': values",
                  {chart.groups.size(), series.values.size()});
  if (!chart.means.empty()) require_count(where + ": means", {chart.groups.size(), chart.means.size()});
  for (const auto& mean : chart.means) {
    if (!(mean.lower > mean.upper)) continue;
    throw_usage_error(
        {where + ": means", "lower <= upper", fmt::format("{} and {}", mean.lower, mean.upper)});
  }
  if (chart.null) require_within(where + ": null", {-1e300, 1e300}, *chart.null);
  require_within(where + ": margin", {0, 1e300}, chart.margin);
}

void check(const std::string& panel, const TokenStrip& strip) {
  require_some(panel + ": token strip: tokens", strip.tokens.size());
}

const ColorScale* checked_scale(const Panel& panel) {
  if (const auto* map = std::get_if<Heatmap>(&panel.content)) return &map->colors;
  if (const auto* strip = std::get_if<TokenStrip>(&panel.content)) return &strip->colors;
  return nullptr;
}

void check_one_scale(const Figure& figure) {
  const ColorScale* first = nullptr;
  for (const auto& panel : figure.panels) {
    const ColorScale* scale = checked_scale(panel);
    if (scale == nullptr) continue;
    if (first == nullptr) first = scale;
    if (*scale == *first) continue;
    throw_usage_error(
        {"figure: one_scale", "the same colour scale in all panels", "panels that differ in theirs"});
  }
  if (first == nullptr) throw_usage_error({"figure: one_scale", "a panel with colours", "none"});
}

}  // namespace

void check_figure(const Figure& figure) {
  require_some("figure: panels", figure.panels.size());
  require_some("figure: columns", figure.columns);
  require_within("figure: width_mm", {20, 2000}, figure.width_mm);
  if (figure.height_mm != 0) require_within("figure: height_mm", {10, 5000}, figure.height_mm);
  require_within("figure: font_pt", {6, 72}, figure.font_pt);
  require_within("figure: png_dpi", {36, 2400}, figure.png_dpi);
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    const auto where = fmt::format("figure: panel {}", i + 1);
    std::visit([&](const auto& content) { check(where, content); }, figure.panels[i].content);
  }
  if (figure.one_scale) check_one_scale(figure);
}

}  // namespace buoy::figure

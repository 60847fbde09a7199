#include "buoy/figure/layout/chart_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace buoy::figure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Extent {
  double low = kInfinity;
  double high = -kInfinity;
  bool left_out = false;  // some value has no place on the axis

  void add(double value, bool log) {
    if (!(std::abs(value) <= 1e300)) return;
    if (log && value <= 0) {
      left_out = true;
      return;
    }
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Extent y_extent(const LineChart& chart) {
  const bool log = chart.y_scale == AxisScale::kLog;
  Extent extent;
  for (const auto& series : chart.series) {
    for (const auto* values : {&series.y, &series.lower, &series.upper}) {
      for (const double value : *values) extent.add(value, log);
    }
  }
  for (const auto& curve : chart.references) {
    for (const double value : curve.y) extent.add(value, log);
  }
  if (extent.low > extent.high) {  // nothing to show
    extent.low = log ? 0.1 : 0;
    extent.high = 1;
  }
  return extent;
}

// What tells quantities apart.
using Quantity = std::tuple<std::string, std::string, AxisScale>;

Quantity quantity_of(const LineChart& chart) {
  return {chart.y_title, chart.kind, chart.y_scale};
}

Quantity quantity_of(const BarChart& chart) {
  return {chart.y_title, "", AxisScale::kLinear};
}

Quantity quantity_of(const DotChart& chart) {
  return {chart.y_title, "", AxisScale::kLinear};
}

template <typename Chart>
void share_ranges(Figure& figure) {
  std::map<Quantity, std::vector<Chart*>> charts;
  for (auto& panel : figure.panels) {
    auto* chart = std::get_if<Chart>(&panel.content);
    if (chart != nullptr && !chart->y_title.empty()) charts[quantity_of(*chart)].push_back(chart);
  }
  for (auto& [quantity, sharing] : charts) {
    if (sharing.size() < 2) continue;
    Range all{kInfinity, -kInfinity};
    for (const auto* chart : sharing) {
      const Range own = y_range(*chart);
      all = {std::min(all.low, own.low), std::max(all.high, own.high)};
    }
    for (auto* chart : sharing) chart->y_low = all.low, chart->y_high = all.high;
  }
}

}  // namespace

Range x_range(const LineChart& chart) {
  Extent extent;
  for (const auto& series : chart.series) {
    for (const double x : series.x) extent.add(x, false);
  }
  for (const auto& curve : chart.references) {
    for (const double x : curve.x) extent.add(x, false);
  }
  const double margin = extent.high > extent.low ? 0.02 * (extent.high - extent.low) : 0.5;
  return {extent.low - margin, extent.high + margin};
}

Range y_range(const LineChart& chart) {
  const Extent extent = y_extent(chart);
  Range range{extent.low, extent.high};
  if (chart.y_scale == AxisScale::kLog) {
    const double margin = range.high > range.low ? std::pow(range.high / range.low, 0.04) : 2;
    range = {chart.y_low.value_or(range.low / margin), chart.y_high.value_or(range.high * margin)};
    if (range.low < range.high) return range;
    return chart.y_low ? Range{range.low, range.low * 10} : Range{range.high / 10, range.high};
  }
  const double span = range.high - range.low;
  const double margin = span > 0 ? 0.05 * span : range.low == 0 ? 1 : 0.1 * std::abs(range.low);
  // Zero is shown where it is near.
  const bool from_zero = range.low >= 0 && range.low <= 0.3 * range.high;
  range = {chart.y_low.value_or(from_zero ? 0 : range.low - margin),
           chart.y_high.value_or(range.high + margin)};
  if (range.low < range.high) return range;
  return chart.y_low ? Range{range.low, range.low + 1} : Range{range.high - 1, range.high};
}

Range y_range(const BarChart& chart) {
  Range range{0, 0};
  const auto add = [&](const std::vector<double>& values) {
    for (const double value : values) {
      if (!(std::abs(value) <= 1e300)) continue;
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  };
  for (const auto& series : chart.series) {
    add(series.values);
    add(series.lower);
    add(series.upper);
  }
  add(chart.references);
  const double margin = 0.05 * (range.high - range.low);
  if (margin == 0) range = {0, 1};
  range = {chart.y_low.value_or(range.low < 0 ? range.low - margin : 0),
           chart.y_high.value_or(range.high > 0 ? range.high + margin : 0)};
  return range.low < range.high ? range : Range{range.low, range.low + 1};
}

Range y_range(const DotChart& chart) {
  Extent extent;
  for (const auto& series : chart.series) {
    for (const auto& group : series.values) {
      for (const double value : group) extent.add(value, false);
    }
  }
  for (const auto& mean : chart.means) {
    for (const double value : {mean.lower, mean.value, mean.upper}) extent.add(value, false);
  }
  if (chart.null)
    extent.add(*chart.null - chart.margin, false), extent.add(*chart.null + chart.margin, false);
  if (extent.low > extent.high) extent.low = 0, extent.high = 1;  // nothing to show
  const double span = extent.high - extent.low;
  const double margin = span > 0 ? 0.08 * span : extent.low == 0 ? 1 : 0.1 * std::abs(extent.low);
  const Range range{chart.y_low.value_or(extent.low - margin), chart.y_high.value_or(extent.high + margin)};
  return range.low < range.high ? range : Range{range.low, range.low + 1};
}

bool leaves_values_out(const LineChart& chart) {
  return y_extent(chart).left_out;
}

Figure with_shared_ranges(Figure figure) {
  share_ranges<LineChart>(figure);
  share_ranges<BarChart>(figure);
  share_ranges<DotChart>(figure);
  return figure;
}

}  // namespace buoy::figure

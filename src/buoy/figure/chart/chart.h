#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace buoy::figure {

// A curve. A y that is not finite leaves a gap.
struct Series {
  std::string name;  // at its end or in the legend; empty: none
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> lower;  // of the band; both empty: no band
  std::vector<double> upper;
  // Number of its colour, dashes and marker; otherwise its place among the series.
  std::optional<size_t> style = {};
  // Points that rest on little: crosses with whiskers, joined to nothing. Empty: none.
  std::vector<bool> thin = {};
  std::optional<bool> dashed = {};  // otherwise by its style
};

// A curve to compare with: a null, a floor, a published value, a control. Thin and dotted, or dashed.
struct ReferenceCurve {
  std::string name;  // at its end or in the legend, once for all curves of that name; empty: none
  std::vector<double> x;
  std::vector<double> y;
  std::optional<size_t> of_series;  // drawn in that series' colour; otherwise grey
  bool dashed = false;              // measured, not computed
};

enum class AxisScale { kLinear, kLog };

struct LineChart {
  std::string x_title;
  std::string y_title;
  std::vector<Series> series;
  std::vector<ReferenceCurve> references;
  AxisScale y_scale = AxisScale::kLinear;  // on a log scale zero and less are left out, and the axis says so
  std::optional<double> y_low;             // otherwise from the data
  std::optional<double> y_high;
  std::string thin_name = {};  // in the legend, what thin points are
  // Panels of a figure whose vertical axes have the same title share a range where this is the same, too.
  std::string kind = {};
};

// One bar in every group. NaN: no bar, no whisker.
struct BarSeries {
  std::string name;  // in the legend; empty: none
  std::vector<double> values;
  std::vector<double> lower;  // of the interval; both empty: no whiskers
  std::vector<double> upper;
  std::optional<size_t> style = {};  // number of its colour; otherwise its place among the series
};

struct BarChart {
  std::string y_title;
  std::vector<std::string> groups;
  std::vector<BarSeries> series;
  std::vector<double> references;  // a line across each group; empty or NaN: none
  std::string reference_name;
  std::optional<double> y_low = {};  // otherwise from the data
  std::optional<double> y_high = {};
};

// The number of a series' colour.
template <typename Chart>
size_t style_of(const Chart& chart, size_t index) {
  return chart.series[index].style.value_or(index);
}

}  // namespace buoy::figure

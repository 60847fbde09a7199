#include <array>
#include <cmath>
#include <limits>

#include "buoy/figure/layout/line_style.h"
#include "buoy/figure/layout/panel_layout.h"

namespace buoy::figure {
namespace {

constexpr double kNaturalAspect = 0.66;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kBandOpacity = 0.18;

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

Range y_range(const LineChart& chart, const Extent& extent) {
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
  const bool from_zero = range.low >= 0 && range.low <= 0.3 * range.high && span > 0;
  range = {chart.y_low.value_or(from_zero ? 0 : range.low - margin),
           chart.y_high.value_or(range.high + margin)};
  if (range.low < range.high) return range;
  return chart.y_low ? Range{range.low, range.low + 1} : Range{range.high - 1, range.high};
}

bool all_whole(const LineChart& chart) {
  for (const auto& series : chart.series) {
    for (const double x : series.x) {
      if (x != std::floor(x)) return false;
    }
  }
  return true;
}

class LinePanel : public PanelLayout {
 public:
  LinePanel(const Look& look, const LineChart& chart, const PanelPlan& plan)
      : look_(look),
        chart_(chart),
        x_{Side::kBottom,
           chart.x_title,
           x_range(chart),
           false,
           all_whole(chart) ? TickStep::kWhole : TickStep::kAny,
           plan.plot.width},
        y_(make_y(chart, plan.plot.height)),
        frame_(make_frame(plan)) {}

  Insets insets() const override { return frame_.insets(look_); }
  double natural_height(double plot_width) const override { return kNaturalAspect * plot_width; }

  void draw(const PanelPlace& place, Scene& scene) const override {
    const Rect& plot = place.plot;
    for (size_t i = 0; i < chart_.series.size(); ++i) draw_band(i, plot, scene);
    for (const auto& curve : chart_.references) {
      draw_runs(curve.x, curve.y, {reference_stroke(curve), plot}, scene);
    }
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      const auto& series = chart_.series[i];
      draw_runs(series.x, series.y, {series_stroke(look_, style_of(chart_, i)), plot}, scene);
      draw_markers(i, plot, scene);
    }
    scene.items.emplace_back(line({{plot.x, plot.y}, {plot.x, plot.bottom()}, {plot.right(), plot.bottom()}},
                                  {look_.palette().ink, look_.hairline(), {}}));
    frame_.draw(look_, place, scene);
  }

 private:
  struct Pen {
    Stroke stroke;
    Rect plot;
  };

  static NumberAxis make_y(const LineChart& chart, double length) {
    const Extent extent = y_extent(chart);
    std::string title = chart.y_title;
    if (extent.left_out) title += title.empty() ? "values ≤ 0 not shown" : " (values ≤ 0 not shown)";
    return {Side::kLeft,    title, y_range(chart, extent), chart.y_scale == AxisScale::kLog,
            TickStep::kAny, length};
  }

  PanelFrame make_frame(const PanelPlan& plan) const {
    AxisLabels x = number_labels(look_, x_);
    NumberAxis upright = y_;
    upright.spare = x.depth();
    return {std::move(x), number_labels(look_, upright), Legend(look_, entries(), plan.legend)};
  }

  Stroke reference_stroke(const ReferenceCurve& curve) const {
    const Color color =
        curve.of_series ? look_.series(style_of(chart_, *curve.of_series)) : look_.palette().grey;
    return {color, 0.8 * look_.unit(), {0.9 * look_.unit(), 1.5 * look_.unit()}};
  }

  std::vector<LegendEntry> entries() const {
    std::vector<LegendEntry> entries;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      if (chart_.series[i].name.empty()) continue;
      const bool band = !chart_.series[i].lower.empty();
      entries.push_back(
          {chart_.series[i].name,
           [look = look_, i = style_of(chart_, i), band](const Rect& box, Scene& scene) {
             if (band) {
               Shape shade = filled(box, look.series(i));
               shade.opacity = kBandOpacity;
               scene.items.emplace_back(std::move(shade));
             }
             const double y = box.middle().y;
             scene.items.emplace_back(line({{box.x, y}, {box.right(), y}}, series_stroke(look, i)));
             scene.items.emplace_back(series_marker(look, i, box.middle()));
           }});
    }
    for (const auto& curve : chart_.references) {
      if (curve.name.empty()) continue;
      entries.push_back({curve.name, [stroke = reference_stroke(curve)](const Rect& box, Scene& scene) {
                           const double y = box.middle().y;
                           scene.items.emplace_back(line({{box.x, y}, {box.right(), y}}, stroke));
                         }});
    }
    return entries;
  }

  bool has_place(double value) const { return std::abs(value) <= 1e300 && (!y_.log || value > 0); }
  Point place(double x, double y, const Rect& plot) const {
    return {plot.x + x_.at(x) * plot.width, plot.y + y_.at(y) * plot.height};
  }

  void draw_runs(const std::vector<double>& x, const std::vector<double>& y, const Pen& pen,
                 Scene& scene) const {
    Shape shape;
    shape.stroke = pen.stroke;
    shape.clip = pen.plot;
    bool open = false;
    for (size_t i = 0; i < x.size(); ++i) {
      const bool here = std::isfinite(x[i]) && has_place(y[i]);
      if (here && !open) shape.lines.emplace_back();
      if (here) shape.lines.back().push_back(place(x[i], y[i], pen.plot));
      open = here;
    }
    scene.items.emplace_back(std::move(shape));
  }

  // A run of one point has no area: its band is a whisker.
  void draw_band(size_t index, const Rect& plot, Scene& scene) const {
    const auto& series = chart_.series[index];
    if (series.lower.empty()) return;
    std::vector<Point> lower, upper;
    const auto finish = [&] {
      Shape shape;
      shape.clip = plot;
      if (lower.size() == 1) {
        shape.lines = {{lower[0], upper[0]}};
        shape.stroke = Stroke{look_.series(style_of(chart_, index)), 0.8 * look_.unit(), {}};
      } else {
        lower.insert(lower.end(), upper.rbegin(), upper.rend());
        shape.lines = {lower};
        shape.closed = true;
        shape.fill = look_.series(style_of(chart_, index));
        shape.opacity = kBandOpacity;
      }
      if (!lower.empty()) scene.items.emplace_back(std::move(shape));
      lower.clear();
      upper.clear();
    };
    for (size_t i = 0; i < series.x.size(); ++i) {
      const double least = y_.log ? std::max(series.lower[i], y_.range.low) : series.lower[i];
      if (std::isfinite(series.x[i]) && has_place(least) && has_place(series.upper[i])) {
        lower.push_back(place(series.x[i], least, plot));
        upper.push_back(place(series.x[i], series.upper[i], plot));
      } else {
        finish();
      }
    }
    finish();
  }

  void draw_markers(size_t index, const Rect& plot, Scene& scene) const {
    const auto& series = chart_.series[index];
    const double room = plot.width / static_cast<double>(series.x.size());
    const auto stride = static_cast<size_t>(std::max(1.0, std::ceil(7 * look_.unit() / room)));
    for (size_t i = stride == 1 ? 0 : index % stride; i < series.x.size(); i += stride) {
      if (!std::isfinite(series.x[i]) || !has_place(series.y[i])) continue;
      const Point at = place(series.x[i], series.y[i], plot);
      if (plot.contains({at.x, at.y, 0, 0}))
        scene.items.emplace_back(series_marker(look_, style_of(chart_, index), at));
    }
  }

  Look look_;
  const LineChart& chart_;
  NumberAxis x_;
  NumberAxis y_;
  PanelFrame frame_;
};

}  // namespace

std::unique_ptr<PanelLayout> make_line_panel(const Look& look, const LineChart& chart,
                                             const PanelPlan& plan) {
  return std::make_unique<LinePanel>(look, chart, plan);
}

}  // namespace buoy::figure

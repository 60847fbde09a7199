#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "buoy/figure/layout/chart_ranges.h"
#include "buoy/figure/layout/end_labels.h"
#include "buoy/figure/layout/line_style.h"
#include "buoy/figure/layout/panel_layout.h"

namespace buoy::figure {
namespace {

constexpr double kNaturalAspect = 0.66;
constexpr double kBandOpacity = 0.18;
constexpr double kMostOfCell = 0.3;      // of the panel that names at the ends of curves may take
constexpr double kFarthestRight = 0.93;  // of the plot: curves that end earlier are named in the legend

bool is_thin(const Series& series, size_t i) {
  return i < series.thin.size() && series.thin[i];
}

bool has_thin(const LineChart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [](const Series& series) {
    return std::find(series.thin.begin(), series.thin.end(), true) != series.thin.end();
  });
}

// What is joined by lines.
std::vector<double> without_thin(const Series& series) {
  std::vector<double> y = series.y;
  for (size_t i = 0; i < y.size(); ++i) {
    if (is_thin(series, i)) y[i] = NAN;
  }
  return y;
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
        plot_height_(plan.plot.height),
        ends_(look, plan.names_at_ends ? end_labels() : std::vector<EndLabel>{},
              kMostOfCell * plan.legend.width),
        frame_(make_frame(plan)) {}

  Insets insets() const override {
    Insets room = frame_.insets(look_);
    room.right = std::max(room.right, ends_.width());
    room.top = std::max(room.top, ends_.overhang(plot_height_));
    room.bottom = std::max(room.bottom, ends_.overhang(plot_height_));
    return room;
  }
  bool names_fit() const override { return ends_.fit(plot_height_); }
  double natural_height(double plot_width) const override { return kNaturalAspect * plot_width; }

  void draw(const PanelPlace& place, Scene& scene) const override {
    const Rect& plot = place.plot;
    for (size_t i = 0; i < chart_.series.size(); ++i) draw_band(i, plot, scene);
    for (const auto& curve : chart_.references) {
      draw_runs(curve.x, curve.y, {reference_stroke(curve), plot}, scene);
    }
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      const auto& series = chart_.series[i];
      draw_runs(series.x, without_thin(series), {stroke_of(i), plot}, scene);
      draw_markers(i, plot, scene);
    }
    scene.items.emplace_back(line({{plot.x, plot.y}, {plot.x, plot.bottom()}, {plot.right(), plot.bottom()}},
                                  {look_.palette().ink, look_.hairline(), {}}));
    frame_.draw(look_, place, scene);
    ends_.draw(plot, scene);
  }

 private:
  struct Pen {
    Stroke stroke;
    Rect plot;
  };

  static NumberAxis make_y(const LineChart& chart, double length) {
    std::string title = chart.y_title;
    if (leaves_values_out(chart)) title += title.empty() ? "values ≤ 0 not shown" : " (values ≤ 0 not shown)";
    return {Side::kLeft, title, y_range(chart), chart.y_scale == AxisScale::kLog, TickStep::kAny, length};
  }

  PanelFrame make_frame(const PanelPlan& plan) const {
    AxisLabels x = number_labels(look_, x_);
    NumberAxis upright = y_;
    upright.spare = x.depth();
    const bool named = plan.names_at_ends && !end_labels().empty();
    return {std::move(x), number_labels(look_, upright), Legend(look_, entries(named), plan.legend)};
  }

  // Where a curve ends at the right edge of the plot.
  std::optional<double> end_of(const std::vector<double>& x, const std::vector<double>& y) const {
    for (size_t i = x.size(); i-- > 0;) {
      if (!std::isfinite(x[i]) || !has_place(y[i])) continue;
      const double at = y_.at(y[i]);
      return x_.at(x[i]) >= kFarthestRight && at >= 0 && at <= 1 ? std::optional(at) : std::nullopt;
    }
    return std::nullopt;
  }

  bool stands_alone(const ReferenceCurve& curve) const {
    const auto same = std::count_if(chart_.references.begin(), chart_.references.end(),
                                    [&](const ReferenceCurve& other) { return other.name == curve.name; });
    return !curve.name.empty() && !curve.of_series && same == 1;
  }

  // None unless all series that have a name can bear it at their ends. References of the colour of a series
  // belong to several names and stay in the legend.
  std::vector<EndLabel> end_labels() const {
    std::vector<EndLabel> labels;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      const auto& series = chart_.series[i];
      if (series.name.empty()) continue;
      const auto at = end_of(series.x, series.y);
      if (!at) return {};
      labels.push_back({series.name, *at, look_.series(style_of(chart_, i))});
    }
    for (const auto& curve : chart_.references) {
      if (!stands_alone(curve)) continue;
      const auto at = end_of(curve.x, curve.y);
      if (!at) return {};
      labels.push_back({curve.name, *at, look_.palette().grey});
    }
    return labels;
  }

  Stroke stroke_of(size_t i) const {
    Stroke stroke = series_stroke(look_, style_of(chart_, i));
    if (const auto dashed = chart_.series[i].dashed)
      stroke.dash = *dashed ? std::vector{3.6 * look_.unit(), 1.6 * look_.unit()} : std::vector<double>{};
    return stroke;
  }

  Stroke reference_stroke(const ReferenceCurve& curve) const {
    const Color color =
        curve.of_series ? look_.series(style_of(chart_, *curve.of_series)) : look_.palette().grey;
    const double on = curve.dashed ? 3.2 : 0.9;
    return {color, 0.8 * look_.unit(), {on * look_.unit(), 1.5 * look_.unit()}};
  }

  // Of all references with one name: their colour, or grey where they differ.
  Stroke common_stroke(const std::string& name) const {
    std::optional<Stroke> common;
    for (const auto& curve : chart_.references) {
      if (curve.name != name) continue;
      const Stroke own = reference_stroke(curve);
      if (common && !(common->color == own.color)) common->color = look_.palette().grey;
      if (!common) common = own;
    }
    return *common;
  }

  // Of what no name at an end says.
  std::vector<LegendEntry> entries(bool named_at_ends) const {
    std::vector<LegendEntry> entries;
    for (size_t i = 0; i < chart_.series.size() && !named_at_ends; ++i) {
      if (chart_.series[i].name.empty()) continue;
      const bool band = !chart_.series[i].lower.empty();
      entries.push_back({chart_.series[i].name, [look = look_, i = style_of(chart_, i), band,
                                                 stroke = stroke_of(i)](const Rect& box, Scene& scene) {
                           if (band) {
                             Shape shade = filled(box, look.series(i));
                             shade.opacity = kBandOpacity;
                             scene.items.emplace_back(std::move(shade));
                           }
                           const double y = box.middle().y;
                           scene.items.emplace_back(line({{box.x, y}, {box.right(), y}}, stroke));
                           scene.items.emplace_back(series_marker(look, i, box.middle()));
                         }});
    }
    std::set<std::string> known;
    for (const auto& curve : chart_.references) {
      if (curve.name.empty() || (named_at_ends && stands_alone(curve)) || !known.insert(curve.name).second)
        continue;
      entries.push_back({curve.name, [stroke = common_stroke(curve.name)](const Rect& box, Scene& scene) {
                           const double y = box.middle().y;
                           scene.items.emplace_back(line({{box.x, y}, {box.right(), y}}, stroke));
                         }});
    }
    if (has_thin(chart_) && !chart_.thin_name.empty())
      entries.push_back({chart_.thin_name, [look = look_](const Rect& box, Scene& scene) {
                           scene.items.emplace_back(thin_marker(look, look.palette().ink, box.middle()));
                         }});
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
      if (is_thin(series, i)) finish();
      const double least = y_.log ? std::max(series.lower[i], y_.range.low) : series.lower[i];
      if (std::isfinite(series.x[i]) && has_place(least) && has_place(series.upper[i])) {
        lower.push_back(place(series.x[i], least, plot));
        upper.push_back(place(series.x[i], series.upper[i], plot));
        if (is_thin(series, i)) finish();
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
      if (!plot.contains({at.x, at.y, 0, 0})) continue;
      const size_t style = style_of(chart_, index);
      scene.items.emplace_back(is_thin(series, i) ? thin_marker(look_, look_.series(style), at)
                                                  : series_marker(look_, style, at));
    }
  }

  Look look_;
  const LineChart& chart_;
  NumberAxis x_;
  NumberAxis y_;
  double plot_height_;
  EndLabels ends_;
  PanelFrame frame_;
};

}  // namespace

std::unique_ptr<PanelLayout> make_line_panel(const Look& look, const LineChart& chart,
                                             const PanelPlan& plan) {
  return std::make_unique<LinePanel>(look, chart, plan);
}

}  // namespace buoy::figure

#include <algorithm>
#include <cmath>

#include "buoy/figure/layout/chart_ranges.h"
#include "buoy/figure/layout/marks.h"
#include "buoy/figure/layout/panel_layout.h"

namespace buoy::figure {
namespace {

constexpr double kDotAspect = 0.5;
constexpr double kDotRoom = 0.7;            // of a group's room that its dots take
constexpr double kLeastDotGroupNames = 11;  // sizes of the font that names of groups may take
constexpr double kBandOpacity = 0.16;

class DotPanel : public PanelLayout {
 public:
  DotPanel(const Look& look, const DotChart& chart, const PanelPlan& plan)
      : look_(look),
        chart_(chart),
        y_{Side::kLeft, chart.y_title, y_range(chart), false, TickStep::kAny, plan.plot.height},
        groups_{"", chart.groups, 0, 1},
        frame_(make_frame(plan)) {}

  Insets insets() const override { return frame_.insets(look_); }
  double natural_height(double plot_width) const override { return kDotAspect * plot_width; }

  void draw(const PanelPlace& place, Scene& scene) const override {
    const Rect& plot = place.plot;
    draw_null(plot, scene);
    for (size_t group = 0; group < chart_.means.size(); ++group) draw_mean(group, plot, scene);
    for (size_t group = 0; group < chart_.groups.size(); ++group) draw_dots(group, plot, scene);
    const Stroke spine{look_.palette().ink, look_.hairline(), {}};
    scene.items.emplace_back(
        line({{plot.x, plot.y}, {plot.x, plot.bottom()}, {plot.right(), plot.bottom()}}, spine));
    frame_.draw(look_, place, scene);
  }

 private:
  PanelFrame make_frame(const PanelPlan& plan) const {
    const double room = plan.plot.width / static_cast<double>(chart_.groups.size());
    AxisLabels x = cell_labels(look_, {Side::kBottom, groups_, chart_.groups.size(), false, plan.plot.width,
                                       std::max(room, kLeastDotGroupNames * look_.font), 0});
    NumberAxis upright = y_;
    upright.spare = x.depth();
    return {std::move(x), number_labels(look_, upright), Legend(look_, entries(), plan.legend)};
  }

  double radius() const { return 1.7 * look_.unit(); }
  Stroke null_stroke() const {
    return {look_.palette().ink, 0.8 * look_.unit(), {1.8 * look_.unit(), 1.2 * look_.unit()}};
  }
  Stroke mean_stroke() const { return {look_.palette().ink, 0.8 * look_.unit(), {}}; }

  Shape band(const Rect& box) const {
    Shape out = filled(box, look_.palette().ink);
    out.opacity = kBandOpacity;
    return out;
  }

  Shape dot(const Point& at, size_t index) const {
    const Color color = look_.series(chart_.series[index].style.value_or(index));
    Shape out;
    out.lines = {circle(at, radius())};
    out.closed = true;
    out.fill = chart_.series[index].hollow ? look_.palette().page : color;
    out.stroke = Stroke{chart_.series[index].hollow ? color : look_.palette().page, 0.6 * look_.unit(), {}};
    return out;
  }

  std::vector<LegendEntry> entries() const {
    std::vector<LegendEntry> entries;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      if (chart_.series[i].name.empty()) continue;
      entries.push_back({chart_.series[i].name, [this, i](const Rect& box, Scene& scene) {
                           scene.items.emplace_back(dot(box.middle(), i));
                         }});
    }
    if (!chart_.means.empty() && !chart_.mean_name.empty()) {
      entries.push_back(
          {chart_.mean_name, [this](const Rect& box, Scene& scene) {
             scene.items.emplace_back(whisker(box.middle().x, {box.middle().y, box.bottom(), box.y}));
           }});
    }
    if (chart_.null && !chart_.null_name.empty()) {
      entries.push_back({chart_.null_name, [this](const Rect& box, Scene& scene) {
                           if (chart_.margin > 0) scene.items.emplace_back(band(box));
                           const double y = box.middle().y;
                           scene.items.emplace_back(line({{box.x, y}, {box.right(), y}}, null_stroke()));
                         }});
    }
    return entries;
  }

  double height_of(double value, const Rect& plot) const {
    return std::clamp(plot.y + y_.at(value) * plot.height, plot.y, plot.bottom());
  }

  double group_width(const Rect& plot) const {
    return plot.width / static_cast<double>(chart_.groups.size());
  }

  void draw_null(const Rect& plot, Scene& scene) const {
    if (!chart_.null) return;
    const double high = height_of(*chart_.null + chart_.margin, plot),
                 low = height_of(*chart_.null - chart_.margin, plot), y = height_of(*chart_.null, plot);
    if (chart_.margin > 0) scene.items.emplace_back(band({plot.x, high, plot.width, low - high}));
    scene.items.emplace_back(line({{plot.x, y}, {plot.right(), y}}, null_stroke()));
  }

  Shape whisker(double x, const DotMean& heights) const {
    const double cap = 2.5 * look_.unit();
    Shape out;
    out.lines = {{{x, heights.lower}, {x, heights.upper}},
                 {{x - cap, heights.lower}, {x + cap, heights.lower}},
                 {{x - cap, heights.upper}, {x + cap, heights.upper}},
                 {{x - 2 * cap, heights.value}, {x + 2 * cap, heights.value}}};
    out.stroke = mean_stroke();
    return out;
  }

  void draw_mean(size_t group, const Rect& plot, Scene& scene) const {
    const auto& mean = chart_.means[group];
    if (!std::isfinite(mean.value) || !std::isfinite(mean.lower) || !std::isfinite(mean.upper)) return;
    const double width = group_width(plot);
    const double x = plot.x + (static_cast<double>(group) + (1 + kDotRoom) / 2 + 0.04) * width;
    scene.items.emplace_back(
        whisker(x, {height_of(mean.value, plot), height_of(mean.lower, plot), height_of(mean.upper, plot)}));
  }

  // In the order of the series, each at a place of its own: equal values stay apart.
  void draw_dots(size_t group, const Rect& plot, Scene& scene) const {
    size_t count = 0, drawn = 0;
    for (const auto& series : chart_.series) count += series.values[group].size();
    const double width = group_width(plot);
    const double left = plot.x + (static_cast<double>(group) + (1 - kDotRoom) / 2) * width;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      for (const double value : chart_.series[i].values[group]) {
        const double share = (static_cast<double>(drawn++) + 0.5) / static_cast<double>(count);
        if (std::isfinite(value))
          scene.items.emplace_back(dot({left + share * kDotRoom * width, height_of(value, plot)}, i));
      }
    }
  }

  Look look_;
  const DotChart& chart_;
  NumberAxis y_;
  CellAxis groups_;
  PanelFrame frame_;
};

}  // namespace

std::unique_ptr<PanelLayout> make_dot_panel(const Look& look, const DotChart& chart, const PanelPlan& plan) {
  return std::make_unique<DotPanel>(look, chart, plan);
}

}  // namespace buoy::figure

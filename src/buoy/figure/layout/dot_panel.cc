#include <algorithm>
#include <cmath>

#include "buoy/figure/layout/chart_ranges.h"
#include "buoy/figure/layout/group_frame.h"

namespace buoy::figure {
namespace {

constexpr double kDotAspect = 0.5;
constexpr double kDotRoom = 0.7;              // of a group's room that its dots take
constexpr double kLeastDotGroupNames = 11;    // sizes of the font that names of groups may take
constexpr double kMeanGap = 0.04 / kDotRoom;  // between the dots and their mean, of the room of the dots
constexpr double kBandOpacity = 0.16;

class DotPanel : public PanelLayout {
 public:
  DotPanel(const Look& look, const DotChart& chart, const PanelPlan& plan)
      : look_(look),
        chart_(chart),
        groups_(chart.y_title, y_range(chart), chart.groups, plan),
        frame_(groups_.make(look, plan, kLeastDotGroupNames, entries())) {}

  Insets insets() const override { return frame_.insets(look_); }
  double natural_height(double plot_width) const override { return kDotAspect * plot_width; }

  void draw(const PanelPlace& place, Scene& scene) const override {
    const Rect& plot = place.plot;
    draw_null(plot, scene);
    for (size_t group = 0; group < chart_.means.size(); ++group) draw_mean(group, plot, scene);
    for (size_t group = 0; group < chart_.groups.size(); ++group) draw_dots(group, plot, scene);
    draw_spines(look_, plot, scene);
    frame_.draw(look_, place, scene);
  }

 private:
  double radius() const { return 1.7 * look_.unit(); }
  Stroke mean_stroke() const { return {look_.palette().ink, 0.8 * look_.unit(), {}}; }

  Shape band(const Rect& box) const {
    Shape out = filled(box, look_.palette().ink);
    out.opacity = kBandOpacity;
    return out;
  }

  Shape dot(const Point& at, size_t index) const {
    const Color color = look_.series(chart_.series[index].style.value_or(index));
    Shape out = circle(at, radius());
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
      entries.push_back(
          {chart_.null_name, [this](const Rect& box, Scene& scene) {
             if (chart_.margin > 0) scene.items.emplace_back(band(box));
             const double y = box.middle().y;
             scene.items.emplace_back(line({{box.x, y}, {box.right(), y}}, reference_stroke(look_)));
           }});
    }
    return entries;
  }

  double height_of(double value, const Rect& plot) const {
    return std::clamp(groups_.height_of(value, plot), plot.y, plot.bottom());
  }

  void draw_null(const Rect& plot, Scene& scene) const {
    if (!chart_.null) return;
    const double high = height_of(*chart_.null + chart_.margin, plot),
                 low = height_of(*chart_.null - chart_.margin, plot), y = height_of(*chart_.null, plot);
    if (chart_.margin > 0) scene.items.emplace_back(band({plot.x, high, plot.width, low - high}));
    scene.items.emplace_back(line({{plot.x, y}, {plot.right(), y}}, reference_stroke(look_)));
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
    const Rect room = groups_.room_of(group, kDotRoom, plot);
    const double x = room.right() + kMeanGap * room.width;
    scene.items.emplace_back(
        whisker(x, {height_of(mean.value, plot), height_of(mean.lower, plot), height_of(mean.upper, plot)}));
  }

  // In the order of the series, each at a place of its own: equal values stay apart.
  void draw_dots(size_t group, const Rect& plot, Scene& scene) const {
    size_t count = 0, drawn = 0;
    for (const auto& series : chart_.series) count += series.values[group].size();
    const Rect room = groups_.room_of(group, kDotRoom, plot);
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      for (const double value : chart_.series[i].values[group]) {
        const double share = (static_cast<double>(drawn++) + 0.5) / static_cast<double>(count);
        if (std::isfinite(value))
          scene.items.emplace_back(dot({room.x + share * room.width, height_of(value, plot)}, i));
      }
    }
  }

  Look look_;
  const DotChart& chart_;
  GroupFrame groups_;
  PanelFrame frame_;
};

}  // namespace

std::unique_ptr<PanelLayout> make_dot_panel(const Look& look, const DotChart& chart, const PanelPlan& plan) {
  return std::make_unique<DotPanel>(look, chart, plan);
}

}  // namespace buoy::figure

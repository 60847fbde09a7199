#include <cmath>

#include "buoy/figure/layout/chart_ranges.h"
#include "buoy/figure/layout/group_frame.h"

namespace buoy::figure {
namespace {

constexpr double kBarAspect = 0.66;
constexpr double kGroupShare = 0.78;    // of a group's room that its bars take
constexpr double kLeastGroupNames = 9;  // sizes of the font that names of groups may take
constexpr double kBarShare = 0.92;      // of a bar's room

class BarPanel : public PanelLayout {
 public:
  BarPanel(const Look& look, const BarChart& chart, const PanelPlan& plan)
      : look_(look),
        chart_(chart),
        groups_(chart.y_title, y_range(chart), chart.groups, plan),
        frame_(groups_.make(look, plan, kLeastGroupNames, entries())) {}

  Insets insets() const override { return frame_.insets(look_); }
  double natural_height(double plot_width) const override { return kBarAspect * plot_width; }

  void draw(const PanelPlace& place, Scene& scene) const override {
    const Rect& plot = place.plot;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      for (size_t group = 0; group < chart_.groups.size(); ++group) draw_bar(i, group, plot, scene);
    }
    for (size_t group = 0; group < chart_.references.size(); ++group) {
      const double value = chart_.references[group];
      if (!std::isfinite(value)) continue;
      const Rect room = group_room(group, plot);
      const double y = height_of(value, plot);
      const double past = 0.06 * room.width;
      scene.items.emplace_back(line({{room.x - past, y}, {room.right() + past, y}}, reference_stroke(look_)));
    }
    draw_spines(look_, plot, scene);
    const double zero = height_of(0, plot);
    scene.items.emplace_back(
        line({{plot.x, zero}, {plot.right(), zero}}, {look_.palette().ink, look_.hairline(), {}}));
    frame_.draw(look_, place, scene);
  }

 private:
  std::vector<LegendEntry> entries() const {
    std::vector<LegendEntry> entries;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      if (chart_.series[i].name.empty()) continue;
      entries.push_back(
          {chart_.series[i].name, [color = look_.series(style_of(chart_, i))](const Rect& box, Scene& scene) {
             scene.items.emplace_back(filled(box, color));
           }});
    }
    if (!chart_.references.empty() && !chart_.reference_name.empty()) {
      entries.push_back(
          {chart_.reference_name, [stroke = reference_stroke(look_)](const Rect& box, Scene& scene) {
             const double y = box.middle().y;
             scene.items.emplace_back(line({{box.x, y}, {box.right(), y}}, stroke));
           }});
    }
    return entries;
  }

  double height_of(double value, const Rect& plot) const { return groups_.height_of(value, plot); }

  Rect group_room(size_t group, const Rect& plot) const { return groups_.room_of(group, kGroupShare, plot); }

  void draw_bar(size_t index, size_t group, const Rect& plot, Scene& scene) const {
    const auto& series = chart_.series[index];
    const double value = series.values[group];
    if (!std::isfinite(value)) return;
    const Rect room = group_room(group, plot);
    const double width = room.width / static_cast<double>(chart_.series.size());
    const double left = room.x + (static_cast<double>(index) + (1 - kBarShare) / 2) * width;
    const double zero = height_of(0, plot), end = height_of(value, plot);
    const Rect bar{left, std::min(zero, end), kBarShare * width, std::abs(zero - end)};
    scene.items.emplace_back(filled(bar, look_.series(style_of(chart_, index))));
    if (series.lower.empty() || !std::isfinite(series.lower[group]) || !std::isfinite(series.upper[group]))
      return;
    const double x = bar.middle().x, cap = std::min(0.25 * bar.width, 2.5 * look_.unit());
    const double low = height_of(series.lower[group], plot), high = height_of(series.upper[group], plot);
    Shape whisker;
    whisker.lines = {
        {{x, low}, {x, high}}, {{x - cap, low}, {x + cap, low}}, {{x - cap, high}, {x + cap, high}}};
    // A light rim keeps the part inside a dark bar visible.
    whisker.stroke = Stroke{look_.palette().page, 1.7 * look_.unit(), {}};
    scene.items.emplace_back(whisker);
    whisker.stroke = Stroke{look_.palette().ink, 0.7 * look_.unit(), {}};
    scene.items.emplace_back(std::move(whisker));
  }

  Look look_;
  const BarChart& chart_;
  GroupFrame groups_;
  PanelFrame frame_;
};

}  // namespace

std::unique_ptr<PanelLayout> make_bar_panel(const Look& look, const BarChart& chart, const PanelPlan& plan) {
  return std::make_unique<BarPanel>(look, chart, plan);
}

}  // namespace buoy::figure

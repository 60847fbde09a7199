#include "buoy/figure/layout/group_frame.h"

#include <algorithm>

namespace buoy::figure {

PanelFrame GroupFrame::make(const Look& look, const PanelPlan& plan, double least_names,
                            std::vector<LegendEntry> entries) const {
  const std::size_t count = groups.names.size();
  const double room = plan.plot.width / static_cast<double>(count);
  AxisLabels x = cell_labels(look, {Side::kBottom, groups, count, false, plan.plot.width,
                                    std::max(room, least_names * look.font), 0});
  NumberAxis upright = y;
  upright.spare = x.depth();
  return {std::move(x), number_labels(look, upright), Legend(look, std::move(entries), plan.legend)};
}

Rect GroupFrame::room_of(std::size_t group, double share, const Rect& plot) const {
  const double width = plot.width / static_cast<double>(groups.names.size());
  const double left = plot.x + (static_cast<double>(group) + (1 - share) / 2) * width;
  return {left, plot.y, share * width, plot.height};
}

void draw_spines(const Look& look, const Rect& plot, Scene& scene) {
  scene.items.emplace_back(line({{plot.x, plot.y}, {plot.x, plot.bottom()}, {plot.right(), plot.bottom()}},
                                {look.palette().ink, look.hairline(), {}}));
}

Stroke reference_stroke(const Look& look) {
  return {look.palette().ink, 0.8 * look.unit(), {1.8 * look.unit(), 1.2 * look.unit()}};
}

}  // namespace buoy::figure

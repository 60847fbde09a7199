#include "buoy/figure/layout/panel_layout.h"

namespace buoy::figure {

Insets PanelFrame::insets(const Look& look) const {
  const double below = legend.height() > 0 ? legend.height() + 0.5 * look.font : 0;
  return {y.depth(), x.overhang(), y.overhang(), std::max(x.depth() + below, y.overhang())};
}

void PanelFrame::draw(const Look& look, const PanelPlace& place, Scene& scene) const {
  const Rect& plot = place.plot;
  scene.areas.push_back({AreaKind::kPlot, plot});
  x.draw(plot, scene);
  y.draw(plot, scene);
  legend.draw({place.left, plot.bottom() + x.depth() + 0.5 * look.font, place.right - place.left, 0},
              plot.x - place.left, scene);
}

LegendEntry no_data_entry(const Look& look) {
  const Stroke hatch{look.palette().light_grey, look.hairline(), {}};
  return {"no data", [hatch, grey = look.palette().grey](const Rect& sample, Scene& scene) {
            scene.items.emplace_back(hatching(sample, hatch));
            scene.items.emplace_back(outlined(sample, {grey, hatch.width, {}}));
          }};
}

}  // namespace buoy::figure

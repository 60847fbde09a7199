#include "buoy/figure/layout/line_style.h"

#include <array>

namespace buoy::figure {

Stroke series_stroke(const Look& look, size_t index) {
  static const std::array<std::vector<double>, 4> kDashes = {
      std::vector<double>{}, {5.5, 1.6}, {5.5, 1.4, 1.2, 1.4}, {2.6, 1.3}};
  Stroke stroke{look.series(index), 1.1 * look.unit(), kDashes[index % kDashes.size()]};
  for (auto& length : stroke.dash) length *= look.unit();
  return stroke;
}

Shape series_marker(const Look& look, size_t index, const Point& middle) {
  const double r = 1.7 * look.unit();
  const auto [x, y] = middle;
  Shape marker;
  marker.closed = true;
  marker.fill = look.series(index);
  marker.stroke = Stroke{look.palette().page, 0.35 * look.unit(), {}};
  switch (index % 6) {
    case 0:
      marker.circles = {{middle, r}};
      break;
    case 1:
      marker.lines = {corners({x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r})};
      break;
    case 2:
      marker.lines = {{{x, y - 1.25 * r}, {x + 1.15 * r, y + 0.8 * r}, {x - 1.15 * r, y + 0.8 * r}}};
      break;
    case 3:
      marker.lines = {{{x, y - 1.35 * r}, {x + 1.35 * r, y}, {x, y + 1.35 * r}, {x - 1.35 * r, y}}};
      break;
    case 4:
      marker.lines = {{{x, y + 1.25 * r}, {x + 1.15 * r, y - 0.8 * r}, {x - 1.15 * r, y - 0.8 * r}}};
      break;
    default:
      marker.circles = {{middle, r}};
      marker.fill = look.palette().page;
      marker.stroke = Stroke{look.series(index), 0.7 * look.unit(), {}};
  }
  return marker;
}

Shape thin_marker(const Look& look, const Color& color, const Point& middle) {
  const double reach = 2.2 * look.unit();
  Shape shape;
  shape.lines = {{{middle.x - reach, middle.y - reach}, {middle.x + reach, middle.y + reach}},
                 {{middle.x - reach, middle.y + reach}, {middle.x + reach, middle.y - reach}}};
  shape.stroke = Stroke{color, 0.9 * look.unit(), {}};
  return shape;
}

}  // namespace buoy::figure

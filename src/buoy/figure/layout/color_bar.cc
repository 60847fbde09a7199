#include "buoy/figure/layout/color_bar.h"

namespace buoy::figure {
namespace {

constexpr int kShades = 256;

}  // namespace

ColorBar::ColorBar(const Look& look, const Request& request)
    : look_(look),
      direction_(request.direction),
      map_(request.scale.description().map),
      clips_low_(request.scale.clips_low()),
      clips_high_(request.scale.clips_high()),
      labels_(make_labels(look, request)) {}

AxisLabels ColorBar::make_labels(const Look& look, const Request& request) {
  const auto& scale = request.scale;
  const bool up = request.direction == BarDirection::kUp;
  AxisRequest axis{up ? Side::kRight : Side::kBottom,
                   scale.description().label,
                   {},
                   request.length,
                   30 * look.font,
                   up ? request.spare : 0,
                   false};
  const auto place = [&](double position) { return up ? 1 - position : position; };
  if (scale.has_data()) {
    const int most = std::clamp(static_cast<int>(request.length / (look.font * (up ? 2.2 : 5))), 3, 6);
    for (const auto& tick : scale.ticks(most)) {
      axis.ticks.push_back({place(scale.position(tick.value)), tick.label});
    }
    if (scale.clips_low()) axis.ticks.push_back({place(0), "≤ " + short_number(scale.range().low), true});
    if (scale.clips_high()) axis.ticks.push_back({place(1), "≥ " + short_number(scale.range().high), true});
  }
  return AxisLabels(look, std::move(axis));
}

void ColorBar::draw(const Rect& box, Scene& scene) const {
  const bool up = direction_ == BarDirection::kUp;
  const double before = clips_low_ ? point_length() : 0;
  const double after = clips_high_ ? point_length() : 0;
  const double thickness = look_.bar_thickness();
  const Rect bar = up ? Rect{box.x, box.y + after, thickness, box.height - before - after}
                      : Rect{box.x + before, box.y, box.width - before - after, thickness};
  scene.areas.push_back({AreaKind::kColorBar, up ? Rect{box.x, box.y, thickness, box.height}
                                                 : Rect{box.x, box.y, box.width, thickness}});
  Image image{bar, up ? 1 : kShades, up ? kShades : 1, {}};
  for (int i = 0; i < kShades; ++i) {
    const double position = (i + 0.5) / kShades;
    image.pixels.push_back(pixel_of(sample(map_, up ? 1 - position : position)));
  }
  scene.items.emplace_back(std::move(image));
  draw_points(bar, scene);
  labels_.draw(bar, scene);
}

void ColorBar::draw_points(const Rect& bar, Scene& scene) const {
  const bool up = direction_ == BarDirection::kUp;
  const double length = point_length();
  const Point low = up ? Point{bar.middle().x, bar.bottom() + length} : Point{bar.x - length, bar.middle().y};
  const Point high = up ? Point{bar.middle().x, bar.y - length} : Point{bar.right() + length, bar.middle().y};
  const auto corner = corners(bar);  // clockwise from the top left
  const auto point = [&](double position, const std::vector<Point>& triangle) {
    Shape shape;
    shape.lines = {triangle};
    shape.closed = true;
    shape.fill = sample(map_, position);
    scene.items.emplace_back(std::move(shape));
  };
  if (clips_low_)
    point(0, up ? std::vector{corner[2], low, corner[3]} : std::vector{corner[3], low, corner[0]});
  if (clips_high_)
    point(1, up ? std::vector{corner[0], high, corner[1]} : std::vector{corner[1], high, corner[2]});
  // One outline around the bar and its points.
  std::vector<Point> outline;
  for (size_t i = 0; i < corner.size(); ++i) {
    outline.push_back(corner[i]);
    if (clips_high_ && i == (up ? 0u : 1u)) outline.push_back(high);
    if (clips_low_ && i == (up ? 2u : 3u)) outline.push_back(low);
  }
  Shape frame = line(std::move(outline), {look_.palette().ink, look_.hairline(), {}});
  frame.closed = true;
  scene.items.emplace_back(std::move(frame));
}

}  // namespace buoy::figure

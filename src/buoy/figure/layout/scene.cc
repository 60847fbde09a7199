#include "buoy/figure/layout/scene.h"

#include <cmath>

namespace buoy::figure {
namespace {

constexpr double kTouching = 1e-3;
constexpr double kHatchDistance = 3.2;

// Distance from the place of the label to where the text begins, against the reading direction.
double lead(Align align, double length) {
  return align == Align::kStart ? 0 : align == Align::kMiddle ? length / 2 : length;
}

// Distance from the place of the label to the baseline, away from the top of the letters.
double drop(Align align, double size) {
  return size * (align == Align::kStart ? kAscent : align == Align::kMiddle ? kMiddleHeight : -kDescent);
}

}  // namespace

bool Rect::intersects(const Rect& other) const {
  return x < other.right() - kTouching && other.x < right() - kTouching && y < other.bottom() - kTouching &&
         other.y < bottom() - kTouching;
}

bool Rect::contains(const Rect& other) const {
  return other.x >= x - kTouching && other.y >= y - kTouching && other.right() <= right() + kTouching &&
         other.bottom() <= bottom() + kTouching;
}

void add_label(Scene& scene, const TextMeasure& measure, const Label& label) {
  if (label.text.empty()) return;
  const double length = measure.width(label.text, label.style);
  const double before = lead(label.along, length);
  const double below = drop(label.across, label.style.size);
  const double ascent = kAscent * label.style.size;
  const double height = (kAscent + kDescent) * label.style.size;
  Text text{label.text, {}, label.upward, label.style, label.color.value_or(scene.ink), label.role, {}};
  if (label.upward) {
    text.at = {label.at.x + below, label.at.y + before};
    text.box = {text.at.x - ascent, text.at.y - length, height, length};
  } else {
    text.at = {label.at.x - before, label.at.y + below};
    text.box = {text.at.x, text.at.y - ascent, length, height};
  }
  scene.items.emplace_back(std::move(text));
}

std::vector<Point> corners(const Rect& rect) {
  return {{rect.x, rect.y}, {rect.right(), rect.y}, {rect.right(), rect.bottom()}, {rect.x, rect.bottom()}};
}

Shape filled(const Rect& rect, const Color& color) {
  Shape shape;
  shape.lines = {corners(rect)};
  shape.closed = true;
  shape.fill = color;
  return shape;
}

Shape outlined(const Rect& rect, const Stroke& stroke) {
  Shape shape;
  shape.lines = {corners(rect)};
  shape.closed = true;
  shape.stroke = stroke;
  return shape;
}

Shape line(std::vector<Point> points, const Stroke& stroke) {
  Shape shape;
  shape.lines = {std::move(points)};
  shape.stroke = stroke;
  return shape;
}

Shape circle(const Point& middle, double radius) {
  Shape shape;
  shape.circles = {{middle, radius}};
  return shape;
}

Shape hatching(const Rect& rect, const Stroke& stroke) {
  Shape shape;
  shape.stroke = stroke;
  shape.clip = rect;
  // On lines x + y = constant that are the same all over the page, so that neighbours join.
  const double first = std::ceil((rect.x + rect.y) / kHatchDistance) * kHatchDistance;
  for (double sum = first; sum < rect.right() + rect.bottom(); sum += kHatchDistance) {
    shape.lines.push_back({{sum - rect.y, rect.y}, {sum - rect.bottom(), rect.bottom()}});
  }
  return shape;
}

std::uint32_t pixel_of(const Color& color) {
  const auto channel = [](double value) { return static_cast<std::uint32_t>(std::lround(value * 255)); };
  return 0xFF000000u | channel(color.red) << 16 | channel(color.green) << 8 | channel(color.blue);
}

}  // namespace buoy::figure

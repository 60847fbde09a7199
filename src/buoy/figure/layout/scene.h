#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "buoy/figure/chart/color.h"
#include "buoy/figure/layout/text_measure.h"

namespace buoy::figure {

// A laid-out page: what is drawn, in order, in points from the top left corner. Everything about a layout
// can be read off it without looking at pixels.

struct Point {
  double x = 0;
  double y = 0;
};

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  Point middle() const { return {x + width / 2, y + height / 2}; }
  bool intersects(const Rect& other) const;  // touching edges do not count
  bool contains(const Rect& other) const;    // within a thousandth of a point
};

struct Stroke {
  Color color;
  double width = 0.5;
  std::vector<double> dash;
};

struct Circle {
  Point middle;
  double radius = 0;
};

struct Shape {
  std::vector<std::vector<Point>> lines;
  std::vector<Circle> circles;
  bool closed = false;  // its lines
  std::optional<Color> fill;
  double opacity = 1;  // of the fill
  std::optional<Stroke> stroke;
  std::optional<Rect> clip;
};

struct Image {
  Rect box;
  int columns = 0;
  int rows = 0;
  std::vector<std::uint32_t> pixels;  // rows x columns, 0xAARRGGBB; opaque or entirely clear
};

enum class TextRole {
  kTitle,
  kCaption,
  kPanelTitle,
  kLetter,
  kAxisTitle,
  kTick,
  kLegend,
  kEndLabel,
  kCellValue,
  kToken
};

struct Text {
  std::string text;
  Point at;             // left end of the baseline
  bool upward = false;  // reads from bottom to top
  TextStyle style;
  Color color;
  TextRole role = TextRole::kTick;
  Rect box;
};

enum class AreaKind { kPlot, kLegend, kColorBar };

struct Area {
  AreaKind kind = AreaKind::kPlot;
  Rect box;
};

struct Scene {
  double width = 0;
  double height = 0;
  Color page = kWhite;
  Color ink = kBlack;  // of texts that name no colour
  std::vector<std::variant<Shape, Image, Text>> items;
  std::vector<Area> areas;
};

enum class Align { kStart, kMiddle, kEnd };

// Text by its place instead of its baseline. `along` the reading direction, `across` from its top to its
// bottom: upward text that ends below an axis is {kEnd, kMiddle} at the axis.
struct Label {
  std::string text;
  Point at;
  Align along = Align::kStart;
  Align across = Align::kStart;
  bool upward = false;
  TextStyle style;
  std::optional<Color> color = {};  // nothing: the scene's ink
  TextRole role = TextRole::kTick;
};

void add_label(Scene& scene, const TextMeasure& measure, const Label& label);

std::vector<Point> corners(const Rect& rect);
Shape filled(const Rect& rect, const Color& color);
Shape outlined(const Rect& rect, const Stroke& stroke);
Shape line(std::vector<Point> points, const Stroke& stroke);
Shape circle(const Point& middle, double radius);        // without colours
Shape hatching(const Rect& rect, const Stroke& stroke);  // diagonal lines, clipped to the rectangle

std::uint32_t pixel_of(const Color& color);

}  // namespace buoy::figure

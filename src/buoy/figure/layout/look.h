#pragma once

#include <algorithm>
#include <cstddef>

#include "buoy/figure/chart/color.h"
#include "buoy/figure/layout/text_measure.h"

namespace buoy::figure {

// Sizes that follow from the figure's font, and colours that follow from its theme.
struct Look {
  const TextMeasure& measure;
  double font;  // points
  Theme theme = Theme::kPaper;

  const Palette& palette() const { return palette_of(theme); }
  Color series(size_t index) const { return series_color(index, theme); }
  double unit() const { return font / 8; }  // line widths and gaps are multiples of it
  double hairline() const { return 0.5 * unit(); }
  double tick() const { return 2.5 * unit(); }
  double bar_thickness() const { return 6 * unit(); }
  TextStyle body() const { return {font, false}; }
  TextStyle bold() const { return {font, true}; }
  TextStyle small() const { return {std::max(6.0, font * 7 / 8), false}; }
  double width(const std::string& text, const TextStyle& style) const { return measure.width(text, style); }
};

inline constexpr size_t kTitleLines = 3;  // of a panel or an axis, at most

struct Size {
  double width = 0;
  double height = 0;
};

}  // namespace buoy::figure

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "buoy/figure/chart/chart.h"
#include "buoy/figure/chart/dot_chart.h"
#include "buoy/figure/chart/heatmap.h"
#include "buoy/figure/chart/token_strip.h"

namespace buoy::figure {

struct Panel {
  std::string title;
  std::variant<Heatmap, LineChart, BarChart, DotChart, TokenStrip> content;
};

// A page, described. Panels whose values are the same quantity (the title of the axis, the label of the
// colours) show the same range of it. Papers take widths of 89 or 183 mm; a slide takes 254 mm and a font of
// 14 points.
struct Figure {
  std::string title;
  std::string caption;  // small, at the foot
  double width_mm = 183;
  double height_mm = 0;  // 0: as high as the panels want
  double font_pt = 8;    // of axis titles; no text is smaller than 6; lines grow with it
  double png_dpi = 300;
  size_t columns = 1;      // panels fill the grid row by row
  bool letters = false;    // a, b, c before the panels' titles
  bool one_scale = false;  // all panels with colours share limits and one colour bar
  std::vector<Panel> panels;
};

// Throws UsageError when sizes contradict each other or there is nothing to draw.
void check_figure(const Figure& figure);

}  // namespace buoy::figure

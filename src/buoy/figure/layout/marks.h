#pragma once

#include "buoy/figure/chart/heatmap.h"
#include "buoy/figure/layout/look.h"
#include "buoy/figure/layout/scene.h"

namespace buoy::figure {

// Where the cells of a drawn matrix are.
struct CellGrid {
  Rect plot;
  size_t rows = 1;
  size_t columns = 1;
  FirstRow first_row = FirstRow::kTop;

  Rect cell(const Cell& at) const;
};

// Black on white, so that they show on every colour. Outlined cells that touch share one outline.
void draw_marks(const Look& look, const Marks& marks, const CellGrid& grid, Scene& scene);

}  // namespace buoy::figure

#pragma once

#include "buoy/figure/chart/color_scale.h"
#include "buoy/figure/chart/heatmap.h"
#include "buoy/figure/layout/look.h"
#include "buoy/figure/layout/scene.h"

namespace buoy::figure {

// How many points across and down a matrix is drawn with: whole multiples of its cells, so that viewers which
// smooth images cannot blur them; fewer than its cells where these are too many or too small to be seen.
struct Raster {
  size_t rows = 1;
  size_t columns = 1;
};
Raster raster_of(const Matrix& matrix, const Size& plot);
bool merges_cells(const Matrix& matrix, const Raster& raster);

struct ImageRequest {
  const Matrix& matrix;
  const ResolvedScale& scale;
  FirstRow first_row = FirstRow::kTop;
  Raster raster;
  Rect box;
};

// One image instead of a rectangle per cell: no seams between cells in any viewer, and small files. NaN is
// clear. A point that stands for several cells shows the one farthest from the low end of the scale (or its
// centre): in a mean, one column of many would vanish.
Image matrix_image(const ImageRequest& request);

}  // namespace buoy::figure

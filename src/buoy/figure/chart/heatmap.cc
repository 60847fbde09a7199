#include "buoy/figure/chart/heatmap.h"

#include <utility>

namespace buoy::figure {

Heatmap head_grid(Matrix matrix, ColorScale colors) {
  Heatmap map;
  map.matrix = std::move(matrix);
  map.x.title = "Head";
  map.y.title = "Layer";
  map.colors = std::move(colors);
  map.square_cells = true;
  return map;
}

Heatmap flow_matrix(Matrix matrix, std::vector<std::string> names, ColorScale colors) {
  Heatmap map;
  map.matrix = std::move(matrix);
  map.x = {"To", names, 0, 1};
  map.y = {"From", std::move(names), 0, 1};
  map.colors = std::move(colors);
  map.square_cells = true;
  map.print_values = true;
  return map;
}

}  // namespace buoy::figure

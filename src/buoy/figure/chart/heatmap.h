#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "buoy/figure/chart/color_scale.h"

namespace buoy::figure {

// One side of a matrix.
struct CellAxis {
  std::string title;
  std::vector<std::string> names;  // one for each cell, such as token texts; empty: numbers
  double first = 0;                // number of the first cell
  double step = 1;                 // from one cell to the next
};

// Row-major.
struct Matrix {
  size_t rows = 0;
  size_t columns = 0;
  std::vector<double> values;  // NaN: no data, drawn hatched; infinities in the colour of the limit
};

struct Cell {
  size_t row = 0;
  size_t column = 0;

  auto operator<=>(const Cell&) const = default;
};

enum class MarkKind { kOutline, kDot, kHatch, kLeftEdge };  // all visible on dark and on light cells

struct Marks {
  std::string name;  // in the legend; empty: none
  MarkKind kind = MarkKind::kOutline;
  std::vector<Cell> cells;
};

enum class FirstRow { kTop, kBottom };

struct Heatmap {
  Matrix matrix;
  CellAxis x;
  CellAxis y;
  ColorScale colors;
  FirstRow first_row = FirstRow::kTop;
  bool square_cells = false;
  bool print_values = false;  // where all of them fit their cells at 6 points or more
  int decimals = 2;           // of printed values
  std::vector<Marks> marks;
};

// Layers x heads, layer 0 at the top.
Heatmap head_grid(Matrix matrix, ColorScale colors);

// Between the same named parts on both sides, rows to columns, with the numbers in the cells.
Heatmap flow_matrix(Matrix matrix, std::vector<std::string> names, ColorScale colors);

}  // namespace buoy::figure

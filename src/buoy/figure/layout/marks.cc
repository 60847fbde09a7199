#include "buoy/figure/layout/marks.h"

#include <set>

namespace buoy::figure {
namespace {

Shape outline(const Marks& marks, const CellGrid& grid) {
  const std::set<Cell> marked(marks.cells.begin(), marks.cells.end());
  Shape shape;
  for (const auto& at : marked) {
    const auto corner = corners(grid.cell(at));
    const bool top_down = grid.first_row == FirstRow::kTop;
    // The row before the first and the column before it wrap around to numbers no cell has.
    const Cell above{top_down ? at.row - 1 : at.row + 1, at.column};
    const Cell below{top_down ? at.row + 1 : at.row - 1, at.column};
    const auto side = [&](const Cell& neighbour, const Point& from, const Point& to) {
      if (!marked.contains(neighbour)) shape.lines.push_back({from, to});
    };
    side(above, corner[0], corner[1]);
    side({at.row, at.column + 1}, corner[1], corner[2]);
    side(below, corner[2], corner[3]);
    side({at.row, at.column - 1}, corner[3], corner[0]);
  }
  return shape;
}

// Edges of cells that stand above each other are one line.
Shape left_edges(const Marks& marks, const CellGrid& grid) {
  Shape shape;
  for (const auto& at : marks.cells) {
    const auto corner = corners(grid.cell(at));
    shape.lines.push_back({corner[0], corner[3]});
  }
  return shape;
}

void draw_twice(Shape shape, double width, Scene& scene) {
  shape.stroke = Stroke{kWhite, 2.2 * width, {}};
  scene.items.emplace_back(shape);
  shape.stroke = Stroke{kBlack, width, {}};
  scene.items.emplace_back(std::move(shape));
}

void draw_dots(const Look& look, const Marks& marks, const CellGrid& grid, Scene& scene) {
  for (const auto& at : marks.cells) {
    const Rect cell = grid.cell(at);
    const double radius =
        std::clamp(0.22 * std::min(cell.width, cell.height), 0.8 * look.unit(), 2 * look.unit());
    Shape dot = circle(cell.middle(), radius);
    dot.fill = kBlack;
    dot.stroke = Stroke{kWhite, 0.6 * look.unit(), {}};
    scene.items.emplace_back(std::move(dot));
  }
}

}  // namespace

Rect CellGrid::cell(const Cell& at) const {
  const double width = plot.width / static_cast<double>(columns);
  const double height = plot.height / static_cast<double>(rows);
  const size_t down = first_row == FirstRow::kTop ? at.row : rows - 1 - at.row;
  return {plot.x + static_cast<double>(at.column) * width, plot.y + static_cast<double>(down) * height, width,
          height};
}

void draw_marks(const Look& look, const Marks& marks, const CellGrid& grid, Scene& scene) {
  switch (marks.kind) {
    case MarkKind::kOutline:
      draw_twice(outline(marks, grid), 0.8 * look.unit(), scene);
      return;
    case MarkKind::kDot:
      draw_dots(look, marks, grid, scene);
      return;
    case MarkKind::kLeftEdge:
      draw_twice(left_edges(marks, grid), 0.6 * look.unit(), scene);
      return;
    case MarkKind::kHatch:
      for (const auto& at : marks.cells) {
        draw_twice(hatching(grid.cell(at), {}), look.hairline(), scene);
      }
      return;
  }
}

}  // namespace buoy::figure

#include "buoy/figure/layout/matrix_image.h"

#include <cmath>
#include <limits>

namespace buoy::figure {
namespace {

constexpr double kPointsPerPoint = 200.0 / 72;  // of the raster, in a typographic point
constexpr double kMostMerged = 400'000;  // points that differ from their neighbours: 2 MB of file at most
constexpr double kMostPoints = 4e6;

// Points along one side that is `length` long.
size_t points_along(size_t cells, double length) {
  const double wanted = std::max(1.0, length * kPointsPerPoint);
  const double repeats = std::round(wanted / static_cast<double>(cells));
  return repeats >= 1 ? cells * static_cast<size_t>(repeats) : std::min(cells, static_cast<size_t>(wanted));
}

struct Span {
  size_t begin, end;
};

Span cells_of(size_t point, size_t points, size_t cells) {
  return {point * cells / points,
          std::max(point * cells / points + 1, ((point + 1) * cells + points - 1) / points)};
}

double distance(const ResolvedScale& scale, double value) {
  const double position = scale.position(value);
  return scale.description().kind == ScaleKind::kDiverging ? std::abs(position - 0.5) : position;
}

double most_striking(const ImageRequest& request, const Span& rows, const Span& columns) {
  double most = std::numeric_limits<double>::quiet_NaN();
  for (size_t row = rows.begin; row < rows.end; ++row) {
    for (size_t column = columns.begin; column < columns.end; ++column) {
      const double value = request.matrix.values[row * request.matrix.columns + column];
      if (std::isnan(value)) continue;
      if (std::isnan(most) || distance(request.scale, value) > distance(request.scale, most)) most = value;
    }
  }
  return most;
}

}  // namespace

Raster raster_of(const Matrix& matrix, const Size& plot) {
  Raster raster{points_along(matrix.rows, plot.height), points_along(matrix.columns, plot.width)};
  const auto product = [](size_t a, size_t b) { return static_cast<double>(a) * static_cast<double>(b); };
  const auto distinct = [&] {
    return product(std::min(raster.rows, matrix.rows), std::min(raster.columns, matrix.columns));
  };
  while (distinct() > kMostMerged || product(raster.rows, raster.columns) > kMostPoints) {
    const bool tall = raster.rows > raster.columns;
    size_t& side = tall ? raster.rows : raster.columns;
    const size_t cells = tall ? matrix.rows : matrix.columns;
    side = side > cells ? side - cells : side - side / 16 - 1;
  }
  return raster;
}

bool merges_cells(const Matrix& matrix, const Raster& raster) {
  return raster.rows < matrix.rows || raster.columns < matrix.columns;
}

Image matrix_image(const ImageRequest& request) {
  const auto& [rows, columns] = request.raster;
  Image image{request.box, static_cast<int>(columns), static_cast<int>(rows), {}};
  image.pixels.reserve(rows * columns);
  Span drawn{0, 0};
  for (size_t y = 0; y < rows; ++y) {
    const size_t point = request.first_row == FirstRow::kTop ? y : rows - 1 - y;
    const Span down = cells_of(point, rows, request.matrix.rows);
    if (y > 0 && down.begin == drawn.begin && down.end == drawn.end) {
      image.pixels.insert(image.pixels.end(), image.pixels.end() - static_cast<std::ptrdiff_t>(columns),
                          image.pixels.end());
      continue;
    }
    drawn = down;
    for (size_t x = 0; x < columns; ++x) {
      const double value = most_striking(request, down, cells_of(x, columns, request.matrix.columns));
      image.pixels.push_back(std::isnan(value) ? 0 : pixel_of(request.scale.color(value)));
    }
  }
  return image;
}

}  // namespace buoy::figure

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace buoy::stats {

// Means over samples with their standard errors, of many cells: for quantities too many for a bootstrap.
class MeanErrors {
 public:
  explicit MeanErrors(std::int64_t cells) : cells_(static_cast<std::size_t>(cells)) {}

  std::int64_t cells() const { return static_cast<std::int64_t>(cells_.size()); }

  // NaN: this sample has none.
  void add(std::int64_t cell, double value) {
    if (std::isnan(value)) return;
    // Welford: a small spread far from zero is not lost.
    Cell& at = cells_[static_cast<std::size_t>(cell)];
    at.count += 1;
    const double away = value - at.mean;
    at.mean += away / at.count;
    at.squares += away * (value - at.mean);
  }

  std::int64_t count(std::int64_t cell) const { return static_cast<std::int64_t>(of(cell).count); }
  double mean(std::int64_t cell) const {
    return of(cell).count > 0 ? of(cell).mean : std::numeric_limits<double>::quiet_NaN();
  }
  // Of the mean; NaN below two samples.
  double error(std::int64_t cell) const {
    const Cell& at = of(cell);
    return at.count > 1 ? std::sqrt(at.squares / (at.count - 1) / at.count)
                        : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  struct Cell {
    double count = 0, mean = 0, squares = 0;
  };
  const Cell& of(std::int64_t cell) const { return cells_[static_cast<std::size_t>(cell)]; }

  std::vector<Cell> cells_;
};

}  // namespace buoy::stats

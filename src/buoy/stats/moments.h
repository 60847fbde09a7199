#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace buoy::stats {

// Numbers a row-major grid of cells: grid.at({layer, view, rule}).
class Grid {
 public:
  explicit Grid(std::vector<std::int64_t> extents);

  std::int64_t size() const { return size_; }
  std::int64_t at(std::initializer_list<std::int64_t> indices) const;

 private:
  std::vector<std::int64_t> extents_;
  std::int64_t size_ = 1;
};

struct RoundedMoments;

// Running mean and deviation of each of many cells.
class Moments {
 public:
  explicit Moments(std::int64_t cells);

  // NaN is passed over.
  void add(std::int64_t cell, double value);
  void add(const std::vector<double>& values);  // one per cell
  void add(const Moments& other);               // cell by cell, what was added to the other
  void add(const RoundedMoments& other);
  void reset();

  std::int64_t count(std::int64_t cell) const;
  double mean(std::int64_t cell) const;       // NaN without values
  double deviation(std::int64_t cell) const;  // population; NaN without values
  std::vector<double> means() const;          // of every cell

  // For what stores them: counts, sums, sums of squares.
  template <typename Visit>
  void visit(const Visit& visit) {
    visit(count_, sum_, square_);
  }

 private:
  friend struct RoundedMoments;
  std::vector<double> count_, sum_, square_;
};

}  // namespace buoy::stats

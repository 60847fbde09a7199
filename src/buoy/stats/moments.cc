#include "buoy/stats/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "buoy/base/error.h"
#include "buoy/stats/rounded_moments.h"

namespace buoy::stats {

Grid::Grid(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {
  for (const auto extent : extents_) size_ *= extent;
}

std::int64_t Grid::at(std::initializer_list<std::int64_t> indices) const {
  BUOY_CHECK(indices.size() == extents_.size());
  std::int64_t at = 0;
  auto extent = extents_.begin();
  for (const auto index : indices) at = at * *extent++ + index;
  return at;
}

Moments::Moments(std::int64_t cells)
    : count_(static_cast<size_t>(cells), 0.0), sum_(count_), square_(count_) {}

void Moments::add(std::int64_t cell, double value) {
  if (std::isnan(value)) return;
  const auto at = static_cast<size_t>(cell);
  count_[at] += 1;
  sum_[at] += value;
  square_[at] += value * value;
}

void Moments::add(const std::vector<double>& values) {
  BUOY_CHECK(values.size() == count_.size());
  for (size_t i = 0; i < values.size(); ++i) add(static_cast<std::int64_t>(i), values[i]);
}

void Moments::add(const Moments& other) {
  BUOY_CHECK(other.count_.size() == count_.size());
  for (size_t i = 0; i < count_.size(); ++i) {
    count_[i] += other.count_[i];
    sum_[i] += other.sum_[i];
    square_[i] += other.square_[i];
  }
}

void Moments::add(const RoundedMoments& other) {
  BUOY_CHECK(other.count.size() == count_.size());
  for (size_t i = 0; i < count_.size(); ++i) {
    const double mean = other.mean[i], spread = other.spread.empty() ? 0.0 : other.spread[i];
    count_[i] += other.count[i];
    sum_[i] += mean * other.count[i];
    square_[i] += spread + mean * mean * other.count[i];
  }
}

void Moments::reset() {
  for (auto* values : {&count_, &sum_, &square_}) std::fill(values->begin(), values->end(), 0.0);
}

std::int64_t Moments::count(std::int64_t cell) const {
  return static_cast<std::int64_t>(count_[static_cast<size_t>(cell)]);
}

double Moments::mean(std::int64_t cell) const {
  const auto at = static_cast<size_t>(cell);
  return count_[at] > 0 ? sum_[at] / count_[at] : std::numeric_limits<double>::quiet_NaN();
}

double Moments::deviation(std::int64_t cell) const {
  const auto at = static_cast<size_t>(cell);
  const double m = mean(cell);
  return count_[at] > 0 ? std::sqrt(std::max(0.0, square_[at] / count_[at] - m * m)) : m;
}

std::vector<double> Moments::means() const {
  std::vector<double> out;
  for (size_t i = 0; i < count_.size(); ++i) out.push_back(mean(static_cast<std::int64_t>(i)));
  return out;
}

}  // namespace buoy::stats

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/base/quantised_row.h"

namespace buoy::report {

// Quantised rows one behind the other, for pages that carry their data.
class QuantisedRows {
 public:
  static constexpr std::int64_t kScaleBytes = kScaleNumbers * sizeof(float);  // beside the codes of a row

  void add(std::span<const double> row);

  const std::vector<std::uint8_t>& codes() const { return codes_; }
  const std::vector<float>& scales() const { return scales_; }  // low and high of every row
  double largest_error() const { return largest_error_; }       // met so far, relative, of values kept

 private:
  std::vector<std::uint8_t> codes_;
  std::vector<float> scales_;
  std::vector<double> read_back_;
  double largest_error_ = 0;
};

}  // namespace buoy::report

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace buoy::report {

// Rows of shares in one byte each, for pages that carry their data. Attention spans orders of magnitude, so
// codes are spaced evenly in the logarithm between the smallest and the largest value of the row: code 0 is
// nothing, code c from 1 to 255 is low * (high / low)^((c - 1) / 254).
class QuantisedRows {
 public:
  // Values below this share of the largest of their row become 0.
  static constexpr double kFloor = 1e-5;
  // Half the distance of two codes when a row spans all of that: sqrt(1e5^(1 / 254)) - 1, rounded up.
  static constexpr double kMostError = 0.023;
  static constexpr std::int64_t kScaleBytes = 2 * sizeof(float);  // low and high, beside the codes of a row

  void add(std::span<const double> row);

  const std::vector<std::uint8_t>& codes() const { return codes_; }
  const std::vector<float>& scales() const { return scales_; }  // low and high of every row
  double largest_error() const { return largest_error_; }       // met so far, relative, of values kept

 private:
  std::vector<std::uint8_t> codes_;
  std::vector<float> scales_;
  double largest_error_ = 0;
};

}  // namespace buoy::report

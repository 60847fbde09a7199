#pragma once

#include <cstdint>
#include <span>

namespace buoy {

// Rows of shares in one byte each, for traces and pages that keep many. Attention spans orders of magnitude,
// so codes are spaced evenly in the logarithm between the smallest and the largest value of the row: code 0
// is nothing, code c from 1 to 255 is low * (high / low)^((c - 1) / 254).
struct RowScale {
  float low = 0, high = 0;  // of the row; values below kQuantisedFloor of the largest count as nothing
};

inline constexpr int kScaleNumbers = 2;  // low and high, where scales are stored as an array

inline constexpr double kQuantisedFloor = 1e-5;
// Half the distance of two codes when a row spans all of that: sqrt(1e5^(1 / 254)) - 1, rounded up.
inline constexpr double kMostQuantisedError = 0.023;

// `codes` has as many elements as the row. What is not finite or not above 0 becomes nothing.
RowScale quantise_row(std::span<const double> row, std::span<std::uint8_t> codes);

// What the codes stand for.
void read_quantised_row(const RowScale& scale, std::span<const std::uint8_t> codes, std::span<double> row);

}  // namespace buoy

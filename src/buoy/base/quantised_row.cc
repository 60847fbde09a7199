#include "buoy/base/quantised_row.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "buoy/base/error.h"

namespace buoy {
namespace {

constexpr double kSteps = 254;  // between code 1 and code 255

// Binary logarithms by a table of mantissas and a line between two of its entries: rows are many, and 2^-22
// is far below a step of the codes.
class QuickLog {
 public:
  QuickLog() {
    for (size_t i = 0; i < values_.size(); ++i)
      values_[i] = std::log2(1 + static_cast<double>(i) / static_cast<double>(kEntries));
  }

  // Of a positive normal number.
  double operator()(double value) const {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto at = static_cast<size_t>(bits >> kRest) & (kEntries - 1);
    const auto rest =
        static_cast<double>(static_cast<std::int64_t>(bits & ((std::uint64_t{1} << kRest) - 1)));
    const auto exponent = static_cast<double>(static_cast<std::int32_t>(bits >> kMantissa) - kBias);
    return exponent + values_[at] + rest * kOfRest * (values_[at + 1] - values_[at]);
  }

 private:
  static constexpr int kMantissa = 52, kBias = 1023, kIndex = 9, kRest = kMantissa - kIndex;
  static constexpr size_t kEntries = size_t{1} << kIndex;
  static constexpr double kOfRest = 1.0 / static_cast<double>(std::uint64_t{1} << kRest);

  std::array<double, kEntries + 1> values_;
};

}  // namespace

RowScale quantise_row(std::span<const double> row, std::span<std::uint8_t> codes) {
  BUOY_CHECK(row.size() == codes.size());
  constexpr double kLargest = std::numeric_limits<double>::max();
  double largest = 0;
  for (const double value : row) {
    if (value > largest && value <= kLargest) largest = value;
  }
  // Below the smallest normal float there is nothing that a scale could tell.
  const double least = std::max(largest * kQuantisedFloor, double{std::numeric_limits<float>::min()});
  double smallest = largest;
  for (const double value : row) {
    if (value >= least) smallest = std::min(smallest, value);
  }
  const RowScale scale{static_cast<float>(smallest), static_cast<float>(largest)};
  const bool kept = largest >= least && std::isfinite(scale.high);
  if (!kept) {
    std::fill(codes.begin(), codes.end(), std::uint8_t{0});
    return {};
  }
  static const QuickLog quick_log;
  const double low = quick_log(scale.low), span = quick_log(scale.high) - low;
  const double per_step = span > 0 ? kSteps / span : 0.0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool there = row[i] >= least && row[i] <= largest;
    const double place = (quick_log(there ? row[i] : 1.0) - low) * per_step;
    const int code = 1 + static_cast<int>(std::clamp(place, 0.0, kSteps) + 0.5);
    codes[i] = static_cast<std::uint8_t>(there ? code : 0);
  }
  return scale;
}

void read_quantised_row(const RowScale& scale, std::span<const std::uint8_t> codes, std::span<double> row) {
  BUOY_CHECK(row.size() == codes.size());
  std::array<double, 256> values{};
  const double low = scale.low;
  const double span = scale.high > scale.low ? std::log(double{scale.high} / low) : 0.0;
  for (size_t c = 1; c < values.size(); ++c)
    values[c] = low * std::exp(span * static_cast<double>(c - 1) / kSteps);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = values[codes[i]];
}

}  // namespace buoy

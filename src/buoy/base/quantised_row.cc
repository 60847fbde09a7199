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

// Natural logarithm of a positive normal number, within 1e-7: a thousandth of a step is more than enough, and
// rows are many. 2 atanh((m - 1) / (m + 1)) of a mantissa between sqrt(1/2) and sqrt(2).
double quick_log(double value) {
  constexpr std::int64_t kMantissa = (std::int64_t{1} << 52) - 1;
  constexpr std::int64_t kHalfRoot = 0x3FE6A09E667F3BCD;  // the bits of sqrt(1/2)
  const auto bits = std::bit_cast<std::int64_t>(value);
  const std::int64_t above = bits - kHalfRoot;
  const auto exponent = static_cast<double>(static_cast<std::int32_t>(above >> 52));
  const auto mantissa = std::bit_cast<double>((above & kMantissa) + kHalfRoot);
  const double z = (mantissa - 1) / (mantissa + 1);
  const double zz = z * z;
  return exponent * 0.69314718055994530942 +
         2 * z * (1 + zz * (1.0 / 3 + zz * (1.0 / 5 + zz * (1.0 / 7 + zz * (1.0 / 9)))));
}

}  // namespace

RowScale quantise_row(std::span<const double> row, std::span<std::uint8_t> codes) {
  BUOY_CHECK(row.size() == codes.size());
  double largest = 0;
  for (const double value : row) {
    if (std::isfinite(value)) largest = std::max(largest, value);
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

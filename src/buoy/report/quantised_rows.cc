#include "buoy/report/quantised_rows.h"

#include <algorithm>
#include <cmath>

namespace buoy::report {
namespace {

constexpr double kSteps = 254;  // between code 1 and code 255

}  // namespace

void QuantisedRows::add(std::span<const double> row) {
  double largest = 0;
  for (const double value : row) {
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  const auto high = static_cast<float>(largest);
  double smallest = largest;
  const auto kept = [&](double value) {
    return std::isfinite(value) && value > 0 && value >= largest * kFloor;
  };
  for (const double value : row) {
    if (kept(value)) smallest = std::min(smallest, value);
  }
  const auto low = static_cast<float>(smallest);
  scales_.push_back(low);
  scales_.push_back(high);
  const double span = high > low ? std::log(double{high} / double{low}) : 0.0;
  for (const double value : row) {
    if (!kept(value) || low <= 0) {
      codes_.push_back(0);
      continue;
    }
    const double place = span > 0 ? std::log(value / double{low}) / span : 0.0;
    const double code = std::round(std::clamp(place, 0.0, 1.0) * kSteps);
    codes_.push_back(static_cast<std::uint8_t>(1 + static_cast<int>(code)));
    const double read_back = double{low} * std::exp(span * code / kSteps);
    largest_error_ = std::max(largest_error_, std::abs(read_back - value) / value);
  }
}

}  // namespace buoy::report

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/analysis/core/reach.h"

namespace buoy::analysis {

// Numbers between regions: row a is what gives attention, column b what receives it.
struct RegionMatrix {
  explicit RegionMatrix(std::int64_t count = 0)
      : regions(count), values(static_cast<size_t>(count * count), 0.0) {}

  double& at(std::int64_t a, std::int64_t b) { return values[static_cast<size_t>(a * regions + b)]; }
  double at(std::int64_t a, std::int64_t b) const { return values[static_cast<size_t>(a * regions + b)]; }
  std::span<const double> row(std::int64_t a) const {
    return std::span(values).subspan(static_cast<size_t>(a * regions), static_cast<size_t>(regions));
  }

  std::int64_t regions = 0;
  std::vector<double> values;  // [regions, regions]
};

RegionMatrix multiply(const RegionMatrix& a, const RegionMatrix& b);
// Rows divided by their sums; a row of zeros stays one.
void normalise_rows(RegionMatrix& matrix);

// The mass between regions when every query spreads evenly over the keys it sees: the sum over queries of a
// and keys of b of 1/T, or of 1/(i+1) over keys j <= i if causal; with a prefix its keys are seen by all.
// `region_of_token` is -1 for a token in none. The null of every statement about regions.
RegionMatrix uniform_region_mass(std::span<const std::int32_t> region_of_token, std::int64_t regions,
                                 const Mask& mask);
// The same of the queries of one forward, which are in other regions than the tokens at their places.
RegionMatrix uniform_region_mass(std::span<const std::int32_t> region_of_query,
                                 std::span<const std::int32_t> region_of_token, std::int64_t regions,
                                 const Reach& reach);
// The same for regions that follow each other.
RegionMatrix uniform_region_mass(std::span<const std::int64_t> lengths, const Mask& mask);

}  // namespace buoy::analysis

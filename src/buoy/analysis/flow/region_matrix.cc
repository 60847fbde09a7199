#include "buoy/analysis/flow/region_matrix.h"

#include "buoy/base/error.h"

namespace buoy::analysis {

RegionMatrix multiply(const RegionMatrix& a, const RegionMatrix& b) {
  BUOY_CHECK(a.regions == b.regions);
  RegionMatrix out(a.regions);
  for (std::int64_t i = 0; i < a.regions; ++i) {
    for (std::int64_t m = 0; m < a.regions; ++m) {
      for (std::int64_t j = 0; j < a.regions; ++j) out.at(i, j) += a.at(i, m) * b.at(m, j);
    }
  }
  return out;
}

void normalise_rows(RegionMatrix& matrix) {
  for (std::int64_t a = 0; a < matrix.regions; ++a) {
    double sum = 0;
    for (const double value : matrix.row(a)) sum += value;
    if (sum <= 0) continue;
    for (std::int64_t b = 0; b < matrix.regions; ++b) matrix.at(a, b) /= sum;
  }
}

RegionMatrix uniform_region_mass(std::span<const std::int32_t> region_of_token, std::int64_t regions,
                                 const Mask& mask) {
  return uniform_region_mass(region_of_token, region_of_token, regions,
                             whole_row(mask, std::ssize(region_of_token)));
}

RegionMatrix uniform_region_mass(std::span<const std::int32_t> region_of_query,
                                 std::span<const std::int32_t> region_of_token, std::int64_t regions,
                                 const Reach& reach) {
  RegionMatrix out(regions);
  std::vector<double> seen(static_cast<size_t>(regions), 0.0);  // keys of each region a query sees
  std::int64_t keys = 0;
  for (std::int64_t i = reach.first; i < reach.end; ++i) {
    for (; keys < reach.keys_of(i); ++keys) {
      const auto region = region_of_token[static_cast<size_t>(keys)];
      if (region >= 0) seen[static_cast<size_t>(region)] += 1;
    }
    const auto own = region_of_query[static_cast<size_t>(i)];
    if (own < 0) continue;
    for (std::int64_t b = 0; b < regions; ++b)
      out.at(own, b) += seen[static_cast<size_t>(b)] / static_cast<double>(keys);
  }
  return out;
}

RegionMatrix uniform_region_mass(std::span<const std::int64_t> lengths, const Mask& mask) {
  std::vector<std::int32_t> region_of_token;
  for (size_t r = 0; r < lengths.size(); ++r)
    region_of_token.insert(region_of_token.end(), static_cast<size_t>(lengths[r]),
                           static_cast<std::int32_t>(r));
  return uniform_region_mass(region_of_token, static_cast<std::int64_t>(lengths.size()), mask);
}

}  // namespace buoy::analysis

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "buoy/stats/estimate.h"

namespace buoy::stats {

// Means over samples with percentile intervals, in memory that does not grow with the samples: each sample
// enters replicate b as often as a Poisson(1) draw says, and that draw depends on the sample's id alone. So
// two quantities of the same samples are resampled alike, and differences between them are paired.
class StreamedBootstrap {
 public:
  StreamedBootstrap(std::int64_t cells, const BootstrapOptions& options);

  // One value per cell; NaN: this sample has none.
  void add(std::string_view sample_id, std::span<const double> values);

  std::int64_t cells() const { return cells_; }
  double mean(std::int64_t cell) const;  // NaN when nothing was added
  Estimate interval(std::int64_t cell) const;
  // Of cell `a` of this minus cell `b` of `other`, which must have the same options.
  Estimate difference(std::int64_t a, const StreamedBootstrap& other, std::int64_t b) const;
  // Of the ratio of the means; lower and upper are NaN when a replicate's denominator is not positive.
  Estimate ratio(std::int64_t a, const StreamedBootstrap& other, std::int64_t b) const;

  // For statistics of several cells: the mean of a cell in each replicate (NaN: none there), and the interval
  // of a statistic that was computed from such means replicate by replicate.
  std::vector<double> replicates(std::int64_t cell) const;
  Estimate from_replicates(double mean, std::int64_t samples, std::vector<double> means) const;

 private:
  double replicate_mean(std::int64_t cell, std::int64_t b) const;

  std::int64_t cells_;
  BootstrapOptions options_;
  std::vector<double> sum_, square_, count_;     // [cells]
  std::vector<double> weighted_sum_, weighted_;  // [cells, replicates]; empty: no sample yet
};

// Poisson(1) draws of one sample for every replicate.
std::vector<std::uint8_t> poisson_weights(std::string_view sample_id, const BootstrapOptions& options);

}  // namespace buoy::stats

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "buoy/stats/estimate.h"
#include "buoy/stats/mean_interval.h"

namespace buoy::stats {

// Means over samples with intervals, in memory that does not grow with the samples: each sample enters
// replicate b as often as a Poisson(1) draw says, and that draw depends on the sample's id alone. So two
// quantities of the same samples are resampled alike. A paired difference is a mean: give it a cell of its
// own.
class StreamedBootstrap {
 public:
  StreamedBootstrap(std::int64_t cells, const BootstrapOptions& options);

  // One value per cell; NaN: this sample has none.
  void add(std::string_view sample_id, std::span<const double> values);

  std::int64_t cells() const { return cells_; }
  double mean(std::int64_t cell) const;        // NaN when nothing was added
  Estimate interval(std::int64_t cell) const;  // of the mean, see mean_interval()
  // Of the mean of cell `a` of this over that of cell `b` of `other`, which must have the same options; lower
  // and upper are NaN when a replicate's denominator is not positive.
  Estimate ratio(std::int64_t a, const StreamedBootstrap& other, std::int64_t b) const;

  // For statistics of several cells: the mean of a cell in each replicate (NaN: none there), and the interval
  // of a statistic that was computed from such means replicate by replicate. Its error within a replicate is
  // not known, so that it cannot be studentised: percentiles, expanded for few samples.
  std::vector<double> replicates(std::int64_t cell) const;
  Estimate from_replicates(double mean, std::int64_t samples, std::vector<double> means) const;

 private:
  // Samples whose share in the replicates is not yet summed. A pass over all replicates of all cells takes
  // milliseconds where heads are cells, most of it for memory: one pass for many samples.
  struct Recent {
    std::vector<double> weights;  // [replicates]
    std::vector<double> near;     // [cells], values about the first one of the cell; NaN: none
  };
  struct Weighted {
    double sum = 0, square = 0;
  };

  void sum_recent();
  Weighted weighted(std::int64_t cell, std::int64_t b) const;
  // How many samples with a value there are in replicate b.
  double drawn(std::int64_t cell, std::int64_t b) const;
  double replicate_mean(std::int64_t cell, std::int64_t b) const;
  std::vector<ResampledMean> resampled(std::int64_t cell) const;

  std::int64_t cells_;
  BootstrapOptions options_;
  std::int64_t samples_ = 0;
  std::vector<double> sum_, count_;  // [cells]
  // About the first value of each cell, so that a small spread far from zero is not lost.
  std::vector<double> first_, near_sum_, near_square_;  // [cells]
  std::vector<double> weighted_sum_, weighted_square_;  // [cells, replicates]; empty: all samples are recent
  std::vector<Recent> recent_;
  std::vector<double> drawn_;                 // [replicates], all samples
  std::vector<std::vector<double>> missing_;  // [cells], of them without a value; empty: none
};

// Poisson(1) draws of one sample for every replicate.
std::vector<std::uint8_t> poisson_weights(std::string_view sample_id, const BootstrapOptions& options);

}  // namespace buoy::stats

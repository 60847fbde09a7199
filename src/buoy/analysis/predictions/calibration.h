#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

inline constexpr std::int64_t kConfidenceBins = 10;
std::int64_t confidence_bin(double confidence);  // of [0, 1] in equal parts, 1 in the last

// Events of one sample: how many lie in each bin, the sum of their confidence, how many were right.
struct CalibrationCounts {
  static constexpr std::int64_t kPerBin = 3;

  void add(double confidence, bool right);
  bool any() const;

  // [bins, kPerBin]
  std::vector<double> sums = std::vector<double>(static_cast<size_t>(kConfidenceBins * kPerBin), 0.0);
};

// Those of all samples. Samples are resampled, not events: events of one sample are not independent.
class Calibration {
 public:
  explicit Calibration(const stats::BootstrapOptions& options);

  void add(std::string_view sample_id, const CalibrationCounts& counts);  // nothing when it has no events

  struct Bin {
    double events = 0, confidence = 0;
    stats::Estimate right;
  };
  Bin bin(std::int64_t bin) const;
  std::int64_t samples() const { return samples_; }
  // Mean over events of the distance between confidence and the share of right ones in their bin.
  stats::Estimate expected_error() const;
  // What the same events show on average when each is right as often as its confidence says and on its own:
  // chance alone keeps bins apart.
  double null_error() const;

 private:
  template <typename MeanOf>
  static double error_of(const MeanOf& mean_of);

  stats::StreamedBootstrap sums_;  // [bins, kPerBin]
  std::int64_t samples_ = 0;
};

}  // namespace buoy::analysis

#include "buoy/analysis/predictions/calibration.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

enum Sum : std::int64_t { kEventCount, kConfidenceSum, kRightCount };

std::int64_t cell(std::int64_t bin, Sum which) {
  return bin * CalibrationCounts::kPerBin + which;
}

}  // namespace

std::int64_t confidence_bin(double confidence) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(confidence * kConfidenceBins), 0,
                                  kConfidenceBins - 1);
}

void CalibrationCounts::add(double confidence, bool right) {
  const std::int64_t bin = confidence_bin(confidence);
  sums[static_cast<size_t>(cell(bin, kEventCount))] += 1;
  sums[static_cast<size_t>(cell(bin, kConfidenceSum))] += confidence;
  sums[static_cast<size_t>(cell(bin, kRightCount))] += right ? 1 : 0;
}

bool CalibrationCounts::any() const {
  return std::any_of(sums.begin(), sums.end(), [](double sum) { return sum > 0; });
}

Calibration::Calibration(const stats::BootstrapOptions& options)
    : sums_(kConfidenceBins * CalibrationCounts::kPerBin, options) {}

void Calibration::add(std::string_view sample_id, const CalibrationCounts& counts) {
  if (!counts.any()) return;
  ++samples_;
  sums_.add(sample_id, counts.sums);
}

Calibration::Bin Calibration::bin(std::int64_t bin) const {
  const double events = sums_.mean(cell(bin, kEventCount));
  Bin out;
  if (samples_ == 0) return out;
  out.events = std::round(events * static_cast<double>(samples_));
  out.confidence = events > 0 ? sums_.mean(cell(bin, kConfidenceSum)) / events : stats::kNan;
  if (!(events > 0)) return out;
  auto shares = sums_.replicates(cell(bin, kRightCount));
  const auto drawn = sums_.replicates(cell(bin, kEventCount));
  for (size_t b = 0; b < shares.size(); ++b) shares[b] = drawn[b] > 0 ? shares[b] / drawn[b] : stats::kNan;
  out.right = sums_.from_replicates(sums_.mean(cell(bin, kRightCount)) / events, samples_, std::move(shares));
  return out;
}

template <typename MeanOf>
double Calibration::error_of(const MeanOf& mean_of) {
  double apart = 0, events = 0;
  for (std::int64_t bin = 0; bin < kConfidenceBins; ++bin) {
    apart += std::abs(mean_of(cell(bin, kConfidenceSum)) - mean_of(cell(bin, kRightCount)));
    events += mean_of(cell(bin, kEventCount));
  }
  return events > 0 ? apart / events : stats::kNan;
}

stats::Estimate Calibration::expected_error() const {
  if (samples_ == 0) return {};
  std::vector<std::vector<double>> means;
  for (std::int64_t c = 0; c < sums_.cells(); ++c) means.push_back(sums_.replicates(c));
  std::vector<double> errors;
  for (size_t b = 0; b < means[0].size(); ++b) {
    const double error = error_of([&](std::int64_t c) { return means[static_cast<size_t>(c)][b]; });
    if (std::isfinite(error)) errors.push_back(error);
  }
  const double value = error_of([&](std::int64_t c) { return sums_.mean(c); });
  return sums_.from_replicates(value, samples_, std::move(errors));
}

double Calibration::null_error() const {
  double apart = 0, events = 0;
  for (std::int64_t b = 0; b < kConfidenceBins; ++b) {
    const Bin one = bin(b);
    if (one.events == 0) continue;
    // A share of n independent events is about normal around its mean.
    const double variance = one.confidence * (1 - one.confidence) * one.events;
    apart += std::sqrt(std::max(0.0, variance) * 2 / std::numbers::pi);
    events += one.events;
  }
  return events > 0 ? apart / events : stats::kNan;
}

}  // namespace buoy::analysis

#include "buoy/stats/mean_interval.h"

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/stats/student_t.h"

namespace buoy::stats {
namespace {

// Below, what is left of a spread about some value is rounding.
constexpr double kSpreadRounding = 1e-12;

double value_at(std::vector<double>& values, double place, bool upper) {
  const auto last = static_cast<double>(values.size() - 1);
  const double at = std::clamp(place, 0.0, last);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), below, values.end());
  const double share = at - std::floor(at), low = *below;
  if (share == 0) return low;
  const double high = *std::min_element(below + 1, values.end());
  if (std::isinf(low) || std::isinf(high)) return upper ? high : low;
  return low + share * (high - low);
}

Interval expanded_percentile(const SampleMean& sample, std::span<const ResampledMean> resamples,
                             double confidence) {
  std::vector<double> means;
  for (const auto& one : resamples) {
    if (!std::isnan(one.offset)) means.push_back(sample.mean + one.offset);
  }
  return tail_values(std::move(means), expanded_tail(confidence, sample.samples));
}

}  // namespace

double error_of_mean(double count, double sum, double square) {
  const double mean = sum / count, spread = square / count - mean * mean;
  return spread > kSpreadRounding * (square / count) ? std::sqrt(spread / count) : 0;
}

Interval tail_values(std::vector<double> values, double tail) {
  if (values.empty()) return {};
  const double place = tail * static_cast<double>(values.size() + 1) - 1;
  const double from_end = static_cast<double>(values.size() - 1) - place;
  return {value_at(values, place, false), value_at(values, from_end, true)};
}

double expanded_tail(double confidence, std::int64_t samples) {
  return normal_tail(two_sided_t(confidence, std::max<std::int64_t>(1, samples - 1)));
}

double expanded_tail_of_draws(double confidence, std::int64_t samples) {
  const auto n = static_cast<double>(std::max<std::int64_t>(2, samples));
  return normal_tail(two_sided_t(confidence, static_cast<std::int64_t>(n) - 1) * std::sqrt(n / (n - 1)));
}

Interval student_interval(const SampleMean& sample, double confidence) {
  if (sample.samples < 2) return {};
  const auto n = static_cast<double>(sample.samples);
  const double reach = two_sided_t(confidence, sample.samples - 1) * sample.error * std::sqrt(n / (n - 1));
  return {sample.mean - reach, sample.mean + reach};
}

Interval mean_interval(const SampleMean& sample, std::span<const ResampledMean> resamples,
                       double confidence) {
  if (sample.samples < 2) return {};
  if (sample.error == 0) return {sample.mean, sample.mean};
  if (sample.samples < kFewestStudentised) return student_interval(sample, confidence);
  std::vector<double> studentised;
  studentised.reserve(resamples.size());
  for (const auto& one : resamples) {
    if (std::isnan(one.offset)) continue;
    // 0 / 0 is in the middle.
    studentised.push_back(one.offset == 0 ? 0 : one.offset / one.error);
  }
  BUOY_CHECK(!studentised.empty());
  const auto [low, high] = tail_values(std::move(studentised), (1 - confidence) / 2);
  Interval out{sample.mean - high * sample.error, sample.mean - low * sample.error};
  if (std::isfinite(low) && std::isfinite(high)) return out;
  const Interval student = student_interval(sample, confidence),
                 percentile = expanded_percentile(sample, resamples, confidence);
  if (!std::isfinite(out.lower)) out.lower = std::min(student.lower, percentile.lower);
  if (!std::isfinite(out.upper)) out.upper = std::max(student.upper, percentile.upper);
  return out;
}

}  // namespace buoy::stats

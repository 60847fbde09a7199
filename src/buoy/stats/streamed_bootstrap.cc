#include "buoy/stats/streamed_bootstrap.h"

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/random.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::stats {
namespace {

constexpr size_t kMostRecent = 16;

// FNV-1a: the id as a number.
std::uint64_t number_of_id(std::string_view id) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::uint8_t poisson_one(double u) {
  double term = std::exp(-1.0), total = term;
  std::uint8_t k = 0;
  while (u >= total && k < 20) total += term /= ++k;
  return k;
}

}  // namespace

std::vector<std::uint8_t> poisson_weights(std::string_view sample_id, const BootstrapOptions& options) {
  const std::uint64_t id = number_of_id(sample_id);
  std::vector<std::uint8_t> weights(static_cast<size_t>(options.replicates));
  for (size_t b = 0; b < weights.size(); ++b) {
    weights[b] = poisson_one(
        uniform(options.seed, {DrawStream::kBootstrap, static_cast<std::uint32_t>(id),
                               static_cast<std::uint32_t>(id >> 32), static_cast<std::uint32_t>(b)}));
  }
  return weights;
}

StreamedBootstrap::StreamedBootstrap(std::int64_t cells, const BootstrapOptions& options)
    : cells_(cells),
      options_(options),
      sum_(static_cast<size_t>(cells), 0.0),
      count_(sum_),
      first_(sum_),
      near_sum_(sum_),
      near_square_(sum_),
      missing_(sum_.size()) {}

void StreamedBootstrap::add(std::string_view sample_id, std::span<const double> values) {
  BUOY_CHECK(static_cast<std::int64_t>(values.size()) == cells_);
  // Before this sample and not behind it: then it is mostly done while a model runs, and not after its last.
  if (recent_.size() == kMostRecent) sum_recent();
  const auto draws = poisson_weights(sample_id, options_);
  const std::vector<double> weights(draws.begin(), draws.end());
  std::vector<double> all_near(values.size(), kNan);
  drawn_.resize(weights.size());
  for (size_t cell = 0; cell < values.size(); ++cell) {
    const double value = values[cell];
    if (std::isnan(value)) {
      // A cell without any value so far misses all samples.
      if (count_[cell] == 0) continue;
      auto& missing = missing_[cell];
      missing.resize(weights.size());
      for (size_t b = 0; b < weights.size(); ++b) missing[b] += weights[b];
      continue;
    }
    if (count_[cell] == 0) {
      first_[cell] = value;
      if (samples_ > 0) missing_[cell] = drawn_;
    }
    const double near = value - first_[cell];
    all_near[cell] = near;
    sum_[cell] += value;
    count_[cell] += 1;
    near_sum_[cell] += near;
    near_square_[cell] += near * near;
  }
  for (size_t b = 0; b < weights.size(); ++b) drawn_[b] += weights[b];
  ++samples_;
  recent_.push_back({weights, std::move(all_near)});
}

void StreamedBootstrap::sum_recent() {
  const auto replicates = static_cast<size_t>(options_.replicates);
  weighted_sum_.resize(static_cast<size_t>(cells_) * replicates);
  weighted_square_.resize(weighted_sum_.size());
  for (size_t cell = 0; cell < static_cast<size_t>(cells_); ++cell) {
    double* sums = weighted_sum_.data() + cell * replicates;
    double* squares = weighted_square_.data() + cell * replicates;
    for (const auto& sample : recent_) {
      const double near = sample.near[cell], square = near * near;
      if (std::isnan(near)) continue;
      for (size_t b = 0; b < replicates; ++b) {
        sums[b] += sample.weights[b] * near;
        squares[b] += sample.weights[b] * square;
      }
    }
  }
  recent_.clear();
}

StreamedBootstrap::Weighted StreamedBootstrap::weighted(std::int64_t cell, std::int64_t b) const {
  Weighted out;
  if (!weighted_sum_.empty()) {
    const auto at = static_cast<size_t>(cell * options_.replicates + b);
    out = {weighted_sum_[at], weighted_square_[at]};
  }
  for (const auto& sample : recent_) {
    const double near = sample.near[static_cast<size_t>(cell)],
                 weight = sample.weights[static_cast<size_t>(b)];
    if (std::isnan(near)) continue;
    out.sum += weight * near;
    out.square += weight * (near * near);
  }
  return out;
}

double StreamedBootstrap::drawn(std::int64_t cell, std::int64_t b) const {
  const auto at = static_cast<size_t>(cell), replicate = static_cast<size_t>(b);
  if (count_[at] == 0) return 0;
  return drawn_[replicate] - (missing_[at].empty() ? 0.0 : missing_[at][replicate]);
}

double StreamedBootstrap::replicate_mean(std::int64_t cell, std::int64_t b) const {
  const double count = drawn(cell, b);
  if (!(count > 0)) return kNan;
  return first_[static_cast<size_t>(cell)] + weighted(cell, b).sum / count;
}

std::vector<ResampledMean> StreamedBootstrap::resampled(std::int64_t cell) const {
  const auto at = static_cast<size_t>(cell);
  const double center = near_sum_[at] / count_[at];
  std::vector<ResampledMean> out;
  out.reserve(static_cast<size_t>(options_.replicates));
  for (std::int64_t b = 0; b < options_.replicates; ++b) {
    const double count = drawn(cell, b);
    if (!(count > 0)) continue;
    const auto [sum, square] = weighted(cell, b);
    out.push_back({sum / count - center, error_of_mean(count, sum, square)});
  }
  return out;
}

double StreamedBootstrap::mean(std::int64_t cell) const {
  const auto at = static_cast<size_t>(cell);
  return count_[at] > 0 ? sum_[at] / count_[at] : kNan;
}

std::vector<double> StreamedBootstrap::replicates(std::int64_t cell) const {
  std::vector<double> means;
  for (std::int64_t b = 0; b < options_.replicates; ++b) means.push_back(replicate_mean(cell, b));
  return means;
}

Estimate StreamedBootstrap::from_replicates(double mean, std::int64_t samples,
                                            std::vector<double> means) const {
  Estimate out{.value = mean, .samples = samples};
  means.erase(std::remove_if(means.begin(), means.end(), [](double m) { return std::isnan(m); }),
              means.end());
  if (samples < 2 || means.size() * 10 < static_cast<size_t>(options_.replicates) * 9) return out;
  const auto [lower, upper] = tail_values(std::move(means), expanded_tail(options_.confidence, samples));
  out.lower = lower;
  out.upper = upper;
  return out;
}

Estimate StreamedBootstrap::interval(std::int64_t cell) const {
  const auto at = static_cast<size_t>(cell);
  const double n = count_[at];
  Estimate out{.value = mean(cell), .samples = static_cast<std::int64_t>(n)};
  if (n == 0) return out;
  const double error = error_of_mean(n, near_sum_[at], near_square_[at]);
  out.deviation = error * std::sqrt(n);
  const auto [lower, upper] =
      mean_interval({out.value, error, out.samples}, resampled(cell), options_.confidence);
  out.lower = lower;
  out.upper = upper;
  return out;
}

Estimate StreamedBootstrap::ratio(std::int64_t a, const StreamedBootstrap& other, std::int64_t b) const {
  BUOY_CHECK(other.options_.replicates == options_.replicates && other.options_.seed == options_.seed);
  const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
  const double below = other.sum_[j] / other.count_[j];
  const double mean = below > 0 ? sum_[i] / count_[i] / below : kNan;
  std::vector<double> means;
  bool defined = true;
  for (std::int64_t r = 0; r < options_.replicates; ++r) {
    const double denominator = other.replicate_mean(b, r);
    defined &= std::isnan(denominator) || denominator > 0;
    means.push_back(denominator > 0 ? replicate_mean(a, r) / denominator : kNan);
  }
  const auto samples = static_cast<std::int64_t>(std::min(count_[i], other.count_[j]));
  if (!defined) return {.value = mean, .samples = samples};
  return from_replicates(mean, samples, std::move(means));
}

}  // namespace buoy::stats

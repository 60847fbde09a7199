#include "buoy/stats/streamed_bootstrap.h"

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/random.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::stats {
namespace {

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

// The value below which a share `q` of the sorted values lies, interpolated.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
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
    : cells_(cells), options_(options), sum_(static_cast<size_t>(cells), 0.0), square_(sum_), count_(sum_) {}

void StreamedBootstrap::add(std::string_view sample_id, std::span<const double> values) {
  BUOY_CHECK(static_cast<std::int64_t>(values.size()) == cells_);
  const auto drawn = poisson_weights(sample_id, options_);
  const std::vector<double> weights(drawn.begin(), drawn.end());
  // Megabytes: not before they are needed.
  weighted_sum_.resize(values.size() * weights.size());
  weighted_.resize(weighted_sum_.size());
  for (size_t cell = 0; cell < values.size(); ++cell) {
    const double value = values[cell];
    if (std::isnan(value)) continue;
    sum_[cell] += value;
    square_[cell] += value * value;
    count_[cell] += 1;
    double* sums = weighted_sum_.data() + cell * weights.size();
    double* counts = weighted_.data() + cell * weights.size();
    for (size_t b = 0; b < weights.size(); ++b) {
      sums[b] += weights[b] * value;
      counts[b] += weights[b];
    }
  }
}

double StreamedBootstrap::replicate_mean(std::int64_t cell, std::int64_t b) const {
  const auto at = static_cast<size_t>(cell * options_.replicates + b);
  if (at >= weighted_.size()) return kNan;
  return weighted_[at] > 0 ? weighted_sum_[at] / weighted_[at] : kNan;
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
  std::sort(means.begin(), means.end());
  const double tail = (1 - options_.confidence) / 2;
  out.lower = quantile(means, tail);
  out.upper = quantile(means, 1 - tail);
  return out;
}

Estimate StreamedBootstrap::interval(std::int64_t cell) const {
  const auto at = static_cast<size_t>(cell);
  const double n = count_[at];
  const double center = mean(cell);
  Estimate out = from_replicates(center, static_cast<std::int64_t>(n), replicates(cell));
  out.deviation = n > 0 ? std::sqrt(std::max(0.0, square_[at] / n - center * center)) : kNan;
  return out;
}

Estimate StreamedBootstrap::difference(std::int64_t a, const StreamedBootstrap& other, std::int64_t b) const {
  BUOY_CHECK(other.options_.replicates == options_.replicates && other.options_.seed == options_.seed);
  const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
  const double mean = sum_[i] / count_[i] - other.sum_[j] / other.count_[j];
  std::vector<double> means;
  for (std::int64_t r = 0; r < options_.replicates; ++r)
    means.push_back(replicate_mean(a, r) - other.replicate_mean(b, r));
  return from_replicates(mean, static_cast<std::int64_t>(std::min(count_[i], other.count_[j])),
                         std::move(means));
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

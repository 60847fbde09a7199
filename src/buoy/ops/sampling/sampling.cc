#include "buoy/ops/sampling/sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "buoy/base/error.h"

namespace buoy::ops {
namespace {

constexpr double kDropped = -std::numeric_limits<double>::infinity();

template <typename T>
size_t first_largest(std::span<const T> values) {
  BUOY_CHECK(!values.empty());
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// Ids from the most to the least probable, lower ids first among equals.
std::vector<size_t> descending(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
  return order;
}

}  // namespace

size_t argmax(std::span<const float> logits) {
  return first_largest(logits);
}
size_t argmax(std::span<const double> values) {
  return first_largest(values);
}

double log_sum_exp(std::span<const float> logits) {
  const double top = logits[argmax(logits)];
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - top);
  return top + std::log(sum);
}

std::vector<double> softmax(std::span<const double> logits) {
  const double top = logits[argmax(logits)];
  std::vector<double> p(logits.size());
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += p[i] = std::exp(logits[i] - top);
  for (double& value : p) value /= sum;
  return p;
}

void keep_top_k(std::vector<double>& logits, std::int64_t k) {
  BUOY_CHECK(k > 0);
  if (static_cast<size_t>(k) >= logits.size()) return;
  std::vector<double> sorted = logits;
  std::nth_element(sorted.begin(), sorted.begin() + (k - 1), sorted.end(), std::greater<>());
  const double limit = sorted[static_cast<size_t>(k - 1)];
  for (double& logit : logits) {
    if (logit < limit) logit = kDropped;
  }
}

void keep_top_p_above(std::vector<double>& logits, double p) {
  if (p >= 1) return;  // nothing holds more than 1, whatever a rounded sum says
  const auto probabilities = softmax(logits);
  double above = 0;
  for (const size_t i : descending(logits)) {
    if (above > p) logits[i] = kDropped;
    above += probabilities[i];
  }
}

void keep_top_p_below(std::vector<double>& logits, double p) {
  const auto probabilities = softmax(logits);
  auto order = descending(logits);
  std::reverse(order.begin(), order.end());
  double below = 0;
  for (size_t n = 0; n + 1 < order.size(); ++n) {
    below += probabilities[order[n]];
    if (below > 1.0 - p) break;
    logits[order[n]] = kDropped;
  }
}

size_t categorical(std::span<const double> probabilities, double u) {
  const double target = u * std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  double running = 0;
  size_t last = 0;
  for (size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] <= 0) continue;
    running += probabilities[i];
    last = i;
    if (running > target) return i;
  }
  return last;
}

}  // namespace buoy::ops

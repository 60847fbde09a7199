#include "buoy/analysis/steps/similarity.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

double product_of(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double total_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

WithNull cosine_of(std::span<const double> a, std::span<const double> b) {
  const double lengths = std::sqrt(product_of(a, a)) * std::sqrt(product_of(b, b));
  if (!(lengths > 0)) return {stats::kNan, stats::kNan};
  return {product_of(a, b) / lengths, total_of(a) * total_of(b) / static_cast<double>(a.size()) / lengths};
}

WithNull overlap_of(std::span<const double> a, std::span<const double> b) {
  double common = 0;
  for (size_t j = 0; j < a.size(); ++j) common += std::min(a[j], b[j]);
  // Every pair of keys meets in one of n permutations: values of one, among the sorted ones of the other.
  std::vector<double> sorted(b.begin(), b.end()), below = {0};
  std::sort(sorted.begin(), sorted.end());
  for (const double value : sorted) below.push_back(below.back() + value);
  double pairs = 0;
  for (const double value : a) {
    const auto less = std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
    pairs += below[static_cast<size_t>(less)] + value * static_cast<double>(std::ssize(sorted) - less);
  }
  return {common, pairs / static_cast<double>(a.size())};
}

std::vector<double> top_chances(std::span<const double> values, std::int64_t k) {
  std::vector<double> chances(values.size(), 0.0), sorted(values.begin(), values.end());
  const auto last = sorted.begin() + (k - 1);
  std::nth_element(sorted.begin(), last, sorted.end(), std::greater<>());
  const double least = *last;
  double above = 0, ties = 0;
  for (const double value : values) {
    above += value > least ? 1 : 0;
    ties += value == least ? 1 : 0;
  }
  for (size_t j = 0; j < values.size(); ++j)
    chances[j] = values[j] > least ? 1 : values[j] == least ? (static_cast<double>(k) - above) / ties : 0;
  return chances;
}

WithNull recall_of(std::span<const double> first, std::span<const double> now, std::int64_t k) {
  const auto wanted = static_cast<double>(k);
  return {product_of(first, now) / wanted, wanted / static_cast<double>(now.size())};
}

WithNull recalled_mass(std::span<const double> first, std::span<const double> now, std::int64_t k,
                       std::span<const double> attention) {
  const double best = product_of(now, attention);
  if (!(best > 0)) return {stats::kNan, stats::kNan};
  const double even = total_of(attention) * static_cast<double>(k) / static_cast<double>(attention.size());
  return {product_of(first, attention) / best, even / best};
}

}  // namespace buoy::analysis

#include "buoy/stats/gains.h"

#include <cmath>
#include <limits>

#include "buoy/base/error.h"
#include "buoy/stats/share.h"

namespace buoy::stats {
namespace {

void append(ScoreTable& table, std::span<const ModelScores> kind) {
  if (kind.empty()) throw_usage_error({"gain of a kind of models", "at least one model", "none"});
  for (const ModelScores& model : kind) {
    table.columns.push_back(model.with_passages);
    table.columns.push_back(model.closed_book);
  }
}

// Of models [first, first + count), two means each.
double gain_from(std::span<const double> means, std::size_t first, std::size_t count) {
  double sum = 0;
  for (std::size_t i = first; i < first + count; ++i) sum += means[2 * i] - means[2 * i + 1];
  return sum / static_cast<double>(count);
}

bool are_shares_of_one(std::span<const ModelScores> kind) {
  return kind.size() == 1 && are_shares(kind[0].with_passages) && are_shares(kind[0].closed_book);
}

}  // namespace

Estimate rag_gain(const ModelScores& model, const BootstrapOptions& options) {
  return rag_gain({&model, 1}, options);
}

Estimate rag_gain(std::span<const ModelScores> kind, const BootstrapOptions& options) {
  if (kind.size() == 1) return difference_estimate({kind[0].with_passages, kind[0].closed_book}, options);
  ScoreTable table;
  append(table, kind);
  return bootstrap(
      {&table, 1}, [&](std::span<const double> means) { return gain_from(means, 0, kind.size()); }, options);
}

GainRatio gain_ratio(std::span<const ModelScores> numerator, std::span<const ModelScores> denominator,
                     const BootstrapOptions& options) {
  GainRatio result{rag_gain(numerator, options), rag_gain(denominator, options), std::nullopt};
  if (result.denominator.interval().contains(0)) return result;
  if (are_shares_of_one(numerator) && are_shares_of_one(denominator)) {
    const auto [lower, upper] = ratio_interval(result.numerator, result.denominator);
    result.ratio = {.value = result.numerator.value / result.denominator.value,
                    .lower = lower,
                    .upper = upper,
                    .samples = result.numerator.samples};
    return result;
  }
  const double side = std::copysign(1.0, result.denominator.value);
  ScoreTable table;
  append(table, numerator);
  append(table, denominator);
  const auto ratio = [&](std::span<const double> means) {
    const double above = gain_from(means, 0, numerator.size());
    const double below = gain_from(means, numerator.size(), denominator.size());
    // Past zero the ratio has gone through infinity.
    if (below * side <= 0) return std::copysign(std::numeric_limits<double>::infinity(), above * side);
    return above / below;
  };
  result.ratio = bootstrap({&table, 1}, ratio, options);
  return result;
}

}  // namespace buoy::stats

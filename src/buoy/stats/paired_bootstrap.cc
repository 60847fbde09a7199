#include "buoy/stats/paired_bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/stats/draw_items.h"
#include "buoy/stats/mean_interval.h"

namespace buoy::stats {
namespace {

std::size_t items_of(const ScoreTable& table) {
  return table.columns.front().size();
}

void check(std::span<const ScoreTable> tables, const BootstrapOptions& options) {
  if (options.replicates < 100) {
    throw_usage_error({"bootstrap", "at least 100 resamples", fmt::to_string(options.replicates)});
  }
  if (!(options.confidence > 0 && options.confidence < 1)) {
    throw_usage_error({"bootstrap", "a confidence between 0 and 1", fmt::to_string(options.confidence)});
  }
  if (tables.empty()) throw_usage_error({"bootstrap", "at least one data set", "none"});
  for (const ScoreTable& table : tables) {
    if (table.columns.empty() || items_of(table) == 0) {
      throw_usage_error({"bootstrap", "at least one item in every data set", "none"});
    }
    for (const auto column : table.columns) {
      if (column.size() == items_of(table)) continue;
      throw_usage_error(
          {"bootstrap", fmt::format("{} paired scores", items_of(table)), fmt::format("{}", column.size())});
    }
  }
}

std::vector<double> plain_means(std::span<const ScoreTable> tables) {
  std::vector<double> means;
  for (const ScoreTable& table : tables) {
    for (const auto column : table.columns) {
      double sum = 0;
      for (const double score : column) sum += score;
      means.push_back(sum / static_cast<double>(column.size()));
    }
  }
  return means;
}

}  // namespace

std::vector<double> bootstrap_values(std::span<const ScoreTable> tables, const Statistic& statistic,
                                     const BootstrapOptions& options) {
  check(tables, options);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(options.replicates));
  std::vector<double> means;
  for (std::int64_t resample = 0; resample < options.replicates; ++resample) {
    means.clear();
    for (std::size_t t = 0; t < tables.size(); ++t) {
      const auto& columns = tables[t].columns;
      const std::size_t first = means.size();
      means.resize(first + columns.size(), 0.0);
      const std::size_t items = items_of(tables[t]);
      draw_items(options.seed, {static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(resample)},
                 static_cast<std::uint32_t>(items), [&](std::size_t item) {
                   for (std::size_t c = 0; c < columns.size(); ++c) means[first + c] += columns[c][item];
                 });
      for (std::size_t c = first; c < means.size(); ++c) means[c] /= static_cast<double>(items);
    }
    values.push_back(statistic(means));
  }
  return values;
}

Interval percentile_interval(std::vector<double> values, double confidence) {
  std::sort(values.begin(), values.end());
  const auto outside =
      static_cast<std::size_t>(std::floor((1 - confidence) / 2 * static_cast<double>(values.size()) + 1e-9));
  return {values[outside], values[values.size() - 1 - outside]};
}

Estimate bootstrap(std::span<const ScoreTable> tables, const Statistic& statistic,
                   const BootstrapOptions& options) {
  std::vector<double> values = bootstrap_values(tables, statistic, options);
  Estimate estimate{.value = statistic(plain_means(tables))};
  std::size_t fewest = items_of(tables[0]);
  for (const ScoreTable& table : tables) {
    estimate.samples += static_cast<std::int64_t>(items_of(table));
    fewest = std::min(fewest, items_of(table));
  }
  const double tail = expanded_tail_of_draws(options.confidence, static_cast<std::int64_t>(fewest));
  const auto [lower, upper] = percentile_interval(std::move(values), 1 - 2 * tail);
  estimate.lower = lower;
  estimate.upper = upper;
  return estimate;
}

Estimate bootstrap_mean(std::span<const double> scores, const BootstrapOptions& options) {
  const ScoreTable table{{scores}};
  return bootstrap(
      {&table, 1}, [](std::span<const double> means) { return means[0]; }, options);
}

Estimate bootstrap_difference(const PairedScores& scores, const BootstrapOptions& options) {
  const ScoreTable table{{scores.a, scores.b}};
  return bootstrap(
      {&table, 1}, [](std::span<const double> means) { return means[0] - means[1]; }, options);
}

Estimate studentised_mean(std::span<const double> scores, const BootstrapOptions& options) {
  const ScoreTable table{{scores}};
  check({&table, 1}, options);
  const auto items = static_cast<double>(scores.size());
  // About the first score: equal ones have no spread, not even of rounding.
  std::vector<double> near;
  double sum = 0, near_sum = 0, near_square = 0;
  for (const double score : scores) {
    near.push_back(score - scores[0]);
    sum += score;
    near_sum += near.back();
    near_square += near.back() * near.back();
  }
  std::vector<ResampledMean> resamples;
  for (std::int64_t resample = 0; resample < options.replicates; ++resample) {
    double drawn_sum = 0, drawn_square = 0;
    draw_items(options.seed, {0, static_cast<std::uint32_t>(resample)},
               static_cast<std::uint32_t>(scores.size()), [&](std::size_t item) {
                 drawn_sum += near[item];
                 drawn_square += near[item] * near[item];
               });
    resamples.push_back({(drawn_sum - near_sum) / items, error_of_mean(items, drawn_sum, drawn_square)});
  }
  const SampleMean sample{sum / items, error_of_mean(items, near_sum, near_square),
                          static_cast<std::int64_t>(scores.size())};
  const auto [lower, upper] = mean_interval(sample, resamples, options.confidence);
  return {.value = sample.mean, .lower = lower, .upper = upper, .samples = sample.samples};
}

Estimate studentised_difference(const PairedScores& scores, const BootstrapOptions& options) {
  const ScoreTable table{{scores.a, scores.b}};
  check({&table, 1}, options);
  std::vector<double> differences;
  for (std::size_t i = 0; i < scores.a.size(); ++i) differences.push_back(scores.a[i] - scores.b[i]);
  return studentised_mean(differences, options);
}

}  // namespace buoy::stats

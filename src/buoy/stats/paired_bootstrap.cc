#include "buoy/stats/paired_bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/random.h"

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

// Calls `use(item)` for each of the `items` draws of one table in one resample.
template <typename Use>
void draw_items(std::uint64_t seed, std::array<std::uint32_t, 2> table_and_resample, std::uint32_t items,
                const Use& use) {
  const auto [table, resample] = table_and_resample;
  for (std::uint32_t first = 0; first < items; first += 4) {
    const auto words =
        philox(seed, {first / 4, table, resample, static_cast<std::uint32_t>(DrawStream::kBootstrap)});
    for (std::uint32_t i = 0; i < std::min(4u, items - first); ++i) {
      use(static_cast<std::size_t>(std::uint64_t{words[i]} * items >> 32));
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
  const auto [lower, upper] =
      percentile_interval(bootstrap_values(tables, statistic, options), options.confidence);
  Estimate estimate{.value = statistic(plain_means(tables)), .lower = lower, .upper = upper};
  for (const ScoreTable& table : tables) estimate.samples += static_cast<std::int64_t>(items_of(table));
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

}  // namespace buoy::stats

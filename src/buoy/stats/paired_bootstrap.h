#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "buoy/stats/estimate.h"

namespace buoy::stats {

// One data set: columns of scores (models, settings, metrics), each with one value per item, row i of all
// columns being the same item. Resampling draws rows, so what is compared stays paired.
struct ScoreTable {
  std::vector<std::span<const double>> columns;
};

// From the means of all columns, table after table, to the number of interest.
using Statistic = std::function<double(std::span<const double> means)>;

// Items are drawn with replacement inside each table. The draws depend on the seed, the number of the table
// and its number of items alone, so every statistic of one run sees the same resamples. The interval is that
// of percentiles, their tails expanded to what Student's t of the smallest table says.
Estimate bootstrap(std::span<const ScoreTable> tables, const Statistic& statistic,
                   const BootstrapOptions& options);

// Value of the statistic on each resample, in the order drawn.
std::vector<double> bootstrap_values(std::span<const ScoreTable> tables, const Statistic& statistic,
                                     const BootstrapOptions& options);
// The middle `confidence` of the values: as many are left out below as above.
Interval percentile_interval(std::vector<double> values, double confidence);

Estimate bootstrap_mean(std::span<const double> scores, const BootstrapOptions& options);

// mean(a) - mean(b) over the same items: model against model, with passages against without.
struct PairedScores {
  std::span<const double> a;
  std::span<const double> b;
};
Estimate bootstrap_difference(const PairedScores& scores, const BootstrapOptions& options);

// The same with studentised ends (mean_interval.h): for what has no bounds and may be skewed. They may lie
// beyond all scores.
Estimate studentised_mean(std::span<const double> scores, const BootstrapOptions& options);
Estimate studentised_difference(const PairedScores& scores, const BootstrapOptions& options);

}  // namespace buoy::stats

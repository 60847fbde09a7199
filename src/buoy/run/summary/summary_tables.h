#pragma once

#include "buoy/result/table.h"
#include "buoy/run/summary/score_book.h"
#include "buoy/stats/paired_bootstrap.h"

namespace buoy::run {

using Bootstrap = stats::BootstrapOptions;

Table scores_table(const ScoreBook& book, const Bootstrap& options);
Table averages_table(const ScoreBook& book, const Bootstrap& options);
Table gains_table(const ScoreBook& book, const Bootstrap& options);
Table gain_ratio_table(const ScoreBook& book, const Bootstrap& options);
Table differences_table(const ScoreBook& book, const Bootstrap& options);
Table effects_table(const ScoreBook& book, const Bootstrap& options);
Table columns_table(const ScoreBook& book, const Bootstrap& options);
Table middle_table(const ScoreBook& book, const Bootstrap& options);
Table positions_table(const ScoreBook& book, const Bootstrap& options);
Table haystack_table(const ScoreBook& book, const Bootstrap& options);
Table labels_table(const ScoreBook& book, const Bootstrap& options);
Table attention_table(const ScoreBook& book, const Bootstrap& options);
Table failures_table(const ScoreBook& book);

// "masked diffusion" or "autoregressive".
std::string kind_name(bool masked_diffusion);

double mean_of(const std::vector<double>& values);

// The mean of a metric: a share has its own interval, a length does not.
stats::Estimate estimate_of(const Metric& metric, const std::vector<double>& scores,
                            const Bootstrap& options);

// Value, lower and upper; the interval is left out below two items.
IntervalCells estimate_cells(const stats::Estimate& estimate);

}  // namespace buoy::run

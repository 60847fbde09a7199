#pragma once

#include <cstddef>
#include <span>

#include "buoy/stats/paired_bootstrap.h"

namespace buoy::stats {

// z with P(|Z| < z) = level for a standard normal Z.
double two_sided_quantile(double level);

// The share of items that have something, with Wilson's score interval: unlike resampling, it does not shrink
// to nothing when all items agree.
Estimate share_estimate(std::size_t having, std::size_t items, double level);

// The mean of scores: a share where every score is 0 or 1; bootstrap_mean() for scores from 0 to 1, which
// keeps these bounds; studentised_mean() for others.
Estimate mean_estimate(std::span<const double> scores, const BootstrapOptions& options);

// mean(a) - mean(b) over the same items. Where all scores are 0 or 1: Newcombe's interval for shares of the
// same items (1998, method 10), which like Wilson's, of which it is made, keeps its width when all items
// agree. Otherwise bootstrap_difference() for scores from 0 to 1, wider on a side on which no item lies, and
// studentised_difference() for others.
Estimate difference_estimate(const PairedScores& scores, const BootstrapOptions& options);

// The interval of above / below from the intervals of both (Donner and Zou's MOVER), taken as if they were
// independent. `below` is surely not 0.
Interval ratio_interval(const Estimate& above, const Estimate& below);

bool are_shares(std::span<const double> scores);

}  // namespace buoy::stats

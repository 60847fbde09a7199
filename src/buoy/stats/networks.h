#pragma once

#include <span>
#include <vector>

#include "buoy/stats/estimate.h"

namespace buoy::stats {

// A few networks (seeds of one training), one mean each: Student's t on these means, with networks - 1
// degrees of freedom. What questions add to their spread is in it where every network has questions of its
// own. Where all were asked the same, it speaks of networks on these very questions.
Estimate networks_estimate(std::span<const double> network_means, double confidence);

// One value per network and question; all networks were asked the same questions, in the same order.
struct NetworkScores {
  std::vector<std::span<const double>> networks;
};

// The mean over networks and questions, for other networks and other questions of their kinds. Two levels are
// resampled, networks and then questions, the latter for all networks alike. Percentiles of five networks are
// far too narrow: the ends are the standard error of the resamples, its parts times n / (n - 1) and what
// counts in both taken out, by Student's t of as many degrees of freedom as the parts have together
// (Satterthwaite).
Estimate two_level_estimate(const NetworkScores& scores, const BootstrapOptions& options);

}  // namespace buoy::stats

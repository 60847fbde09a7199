#pragma once

#include <string>
#include <vector>

#include "buoy/result/table.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// One way to score heads, over all samples.
struct ScoreVariant {
  std::string name;
  std::vector<double> heads;                    // [layers, heads]; NaN: not observed
  std::vector<double> layers;                   // [layers], mean over heads; NaN likewise
  std::vector<std::vector<double>> replicates;  // [layers][replicates] of the same
  double chance = 0;
  std::int64_t samples = 0;
};

// What the published heatmaps are summarised by (docs/measurements.md 9), for each variant: the mean, counts
// over thresholds, thirds and halves of the depth, and the correlation with depth (claim C6b). `bootstrap`
// turns replicates into intervals.
Table summarise_scores(const std::vector<ScoreVariant>& variants, const stats::StreamedBootstrap& bootstrap);

}  // namespace buoy::analysis

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "buoy/result/table.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// The order-free terms of one layer, means over samples.
struct LayerTerms {
  double advantage = 0, scale = 0, direction = 0, residual = 0;
};

// One way to choose columns and one side of the rotation, layer by layer.
struct DepthSeries {
  std::string set, stage;
  std::vector<LayerTerms> layers;                   // [layers]; NaN: not observed
  std::vector<std::vector<LayerTerms>> replicates;  // [replicates][layers]
  std::int64_t samples = 0;
};

// How the parts of the advantage change over depth (claim C5), with intervals over samples.
Table depth_table(const std::vector<DepthSeries>& series, const stats::StreamedBootstrap& bootstrap);

}  // namespace buoy::analysis

#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/depth_summary.h"
#include "analysis/drift_series.h"
#include "analysis/moments.h"

namespace buoy::analysis {

// Everything is measured over all positions and over those already unmasked.
enum DriftPositions : std::int64_t { kAllPositions, kUnmaskedPositions };
inline constexpr std::int64_t kDriftPositions = 2;

// Everything the analysis of drift keeps over samples.
struct DriftState {
  struct Series {
    std::int64_t layer, head, positions;  // head -1: the mean over heads
  };

  DriftState(const LayerAxis& axis, const AnalysisOptions& options);
  void take(const Series& series, const std::array<double, kDriftScalars>& scalars);
  void add_sample(std::string_view id, const LayerAxis& axis, double reveal_order);

  Grid cells;       // [layer, view, positions, scalar]
  Grid head_cells;  // [layer, head, scalar], all positions
  Moments sample;   // cells, of the sample under way
  Bootstrap by_layer;
  Moments by_head;
  DepthSummary depth;  // [view, positions, scalar]
  Bootstrap order;
};

std::vector<Table> drift_tables(const LayerAxis& axis, const RuleOptions& rules, const DriftState* state);

}  // namespace buoy::analysis

#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/depth_summary.h"
#include "buoy/analysis/drift/drift_series.h"
#include "buoy/stats/moments.h"

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

  stats::Grid cells;       // [layer, view, positions, scalar]
  stats::Grid head_cells;  // [layer, head, scalar], all positions
  stats::Moments sample;   // cells, of the sample under way
  stats::StreamedBootstrap by_layer;
  stats::Moments by_head;
  DepthSummary depth;  // [view, positions, scalar]
  stats::StreamedBootstrap order;
  std::optional<std::int64_t> block_length;  // of a model that decodes blocks
};

Table drift_by_block_length(const RuleOptions& rules, const DriftState* state);

std::vector<Table> drift_tables(const LayerAxis& axis, const RuleOptions& rules, const DriftState* state);

}  // namespace buoy::analysis

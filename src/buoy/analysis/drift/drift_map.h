#pragma once

#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/axes.h"
#include "buoy/analysis/drift/frontier.h"
#include "buoy/analysis/floating/floating_rules.h"

namespace buoy::analysis {

// What is drawn of one chosen sample: received attention by step and position, the path of its largest
// position, and the tracks of its anchors.
class DriftMap {
 public:
  explicit DriftMap(const AnalysisOptions& options);

  // Layers the map is drawn of: the chosen one, or the first, the middle and the last observed.
  void draw(const ObservedSample& sample, const LayerAxis& axis, AnchorDetector& detector);
  std::vector<Table> tables() const { return {map_, path_, tracks_}; }

 private:
  struct Panel {
    const ObservedSample& sample;
    const Frontier& frontier;
    std::int64_t layer, number;  // index and number of the layer
  };

  void draw_layer(const Panel& panel, AnchorDetector& detector);
  void add_tracks(const Panel& panel, const std::vector<std::vector<std::int32_t>>& sets);

  std::int64_t layer_, head_;
  Table map_, path_, tracks_;
};

}  // namespace buoy::analysis

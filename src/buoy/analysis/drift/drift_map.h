#pragma once

#include <map>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/axes.h"
#include "buoy/analysis/drift/frontier.h"
#include "buoy/analysis/floating/floating_rules.h"

namespace buoy::analysis {

// Which steps of a sample are in its maps: the last, and every n-th before it (schema::kMostMapCells).
std::int64_t map_stride(std::int64_t tokens, std::int64_t steps);

// What is kept of one sample to draw its maps: one vector over positions for each step of a few layers.
class DriftPanels {
 public:
  struct Step {
    std::vector<float> share;  // of the keys that exist; empty: not in the map
    Anchors anchors;
    std::int64_t top = 0;
    double top_share = 0, margin = 0;
  };

  // Layers the maps are drawn of: the chosen one, or the first, the middle and the last observed.
  DriftPanels(const SampleFacts& sample, const LayerAxis& axis, const AnalysisOptions& options);
  void take(const LayerView& layer);
  void state(StateArchive& archive);

  const std::map<std::int64_t, std::vector<Step>>& layers() const { return layers_; }  // by index

 private:
  bool is_in_map(std::int64_t s) const { return (steps_ - 1 - s) % stride_ == 0; }

  std::int64_t head_, tokens_, steps_, stride_;
  std::vector<std::int64_t> keys_;  // [steps]: that exist
  std::map<std::int64_t, std::vector<Step>> layers_;
};

// What is drawn of one chosen sample: received attention by step and position, the path of its largest
// position, and the tracks of its anchors.
class DriftMap {
 public:
  explicit DriftMap(const AnalysisOptions& options);

  void draw(const ObservedSample& sample, const LayerAxis& axis, const DriftPanels& panels);
  std::vector<Table> tables() const { return {map_, path_, tracks_, blocks_}; }

 private:
  struct Panel {
    const ObservedSample& sample;
    const Frontier& frontier;
    std::int64_t number;  // of the layer
    const std::vector<DriftPanels::Step>& steps;
  };

  void draw_layer(const Panel& panel);
  void add_tracks(const Panel& panel);
  void add_blocks(const ObservedSample& sample);

  std::int64_t head_;
  Table map_, path_, tracks_, blocks_;
};

}  // namespace buoy::analysis

#pragma once

#include <array>
#include <map>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/qk/qk_depth.h"
#include "buoy/analysis/qk/qk_split.h"
#include "buoy/analysis/sample/observed_sample.h"
#include "buoy/result/table.h"
#include "buoy/stats/mean_error.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// Ways to choose the floating columns.
enum Way : std::uint8_t { kThreeSigmaHead, kThreeSigmaMean, kTopOne, kThreeSigmaLift, kWays };
std::string way_name(std::int64_t way, const RuleOptions& rules);  // "three_sigma_head", "top_1"

// The order-free terms, with intervals of their own.
enum Term : std::uint8_t { kTermAdvantage, kTermScale, kTermDirection, kTermResidual, kTerms };
inline constexpr std::array kTermContrasts = {kAdvantage, kScale, kDirection, kResidual};
// What is kept by step.
inline constexpr std::array kStepParts = {kFloatingColumns, kAdvantage, kScale, kDirection, kResidual};
inline constexpr auto kStepCells = static_cast<std::int64_t>(kStepParts.size());
inline constexpr std::int64_t kLayerCells = kContrasts + 1;  // the contrasts, then the share that is defined

struct SliceOfSample {
  std::int64_t step_index = 0;  // among the observed steps
  std::int64_t layer = 0;       // number, not index
};

// How cells are numbered. Layers by their numbers.
struct QkGrid {
  std::int64_t layers, heads;

  std::int64_t group(std::int64_t layer, std::int64_t way, std::int64_t stage) const {
    return (layer * kWays + way) * kStages + stage;
  }
  std::int64_t cell(std::int64_t layer, std::int64_t head, std::int64_t way, std::int64_t stage) const {
    return (((layer * heads + head) * kWays + way) * kStages + stage) * kContrasts;
  }
  std::int64_t cells() const { return layers * heads * kWays * kStages * kContrasts; }
};

struct ContrastOf {
  std::int64_t head = 0, way = 0, stage = 0;
};

// Contrasts of floating columns of one sample, summed over its steps.
class QkSampleSums {
 public:
  QkSampleSums(const QkGrid& grid, const SampleFacts& sample);

  void add(const SliceOfSample& slice, const ContrastOf& of, const ContrastValues& values);
  void add_rotation(const SliceOfSample& slice, const QkColumns& columns);
  // After the last forward: what is kept are means.
  void finish();
  void state(StateArchive& archive);

 private:
  friend class QkSums;
  QkGrid grid_;
  std::vector<float> head_means_;    // [layers, heads, ways, stages, contrasts]; NaN: none
  std::vector<double> layer_means_;  // [layers, ways, stages, contrasts + 1]: over heads; the share defined
  std::vector<double> step_means_;   // [observed steps, layers, parts]
  std::vector<double> sum_, count_;  // until then [layers, heads, ways, stages, contrasts]
  std::vector<double> asked_;        // [layers, ways, stages]: contrasts asked for
  std::vector<double> step_sum_, step_count_;  // [observed steps, layers, parts]
  std::vector<double> rotation_;               // [observed steps, layers]: mean change of the norm
  std::vector<double> largest_change_;         // [layers]
};

// The same, averaged over samples.
class QkSums {
 public:
  QkSums(const trace::ModelCard& model, const AnalysisOptions& options);

  const QkGrid& grid() const { return grid_; }
  void add(const ObservedSample& sample, const QkSampleSums& of);

  Table by_layer() const;
  Table by_head() const;
  Table by_step() const;
  Table depth() const;
  Table rotation() const;

 private:
  std::int64_t group(std::int64_t layer, std::int64_t way, std::int64_t stage) const {
    return grid_.group(layer, way, stage);
  }

  RuleOptions rules_;
  std::int64_t layers_, heads_;
  QkGrid grid_;
  double root_;                                      // sqrt of the head size
  stats::StreamedBootstrap terms_;                   // [layers, ways, stages, 4 order-free terms]
  stats::MeanErrors layer_;                          // [layers, ways, stages, contrasts + 1]
  stats::MeanErrors head_;                           // [layers, heads, ways, stages, contrasts]
  std::map<std::int32_t, stats::MeanErrors> steps_;  // by number: [layers, parts]
  stats::MeanErrors rotation_;                       // [layers]
  std::vector<double> largest_change_;               // [layers]
};

}  // namespace buoy::analysis

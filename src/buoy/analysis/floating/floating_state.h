#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/composition.h"
#include "buoy/analysis/core/depth_summary.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/floating/token_tally.h"
#include "buoy/stats/moments.h"
#include "buoy/stats/rounded_moments.h"

namespace buoy::analysis {

// The rules whose sets are taken apart by what they hold.
inline constexpr std::array kCompositionRules = {Rule::kThreeSigma, Rule::kRulliSum, Rule::kTop1,
                                                 Rule::kShare};
inline constexpr auto kLists = static_cast<std::int64_t>(kCompositionRules.size());
// Their index, -1 for the others.
std::int64_t composition_index(Rule rule);

// Concentration without a threshold.
inline constexpr std::array<std::string_view, 4> kMeasures = {"entropy", "anchor_count", "top_share",
                                                              "margin"};

inline constexpr auto kMeasureCount = static_cast<std::int64_t>(kMeasures.size());
// Of each view over depth: set sizes of every rule, then the measures.
inline constexpr std::int64_t kDepthQuantities = kRuleCount + kMeasureCount;

// What is counted apart.
struct FloatingGrids {
  explicit FloatingGrids(const LayerAxis& axis);

  stats::Grid rules;     // [layer, view, rule]
  stats::Grid steps;     // [layer, bin, view, rule]
  stats::Grid heads;     // [layer, head, rule]
  stats::Grid sets;      // [layer, composition rule, view]
  stats::Grid measures;  // [layer, view, measure]
};

// The sums of one sample.
class FloatingSample final : public SampleAnalysis {
 public:
  FloatingSample(const LayerAxis& axis, const SampleFacts& sample);
  void take(const LayerView& layer) override;
  void finish(const ObservedSample& sample) override;
  void state(StateArchive& archive) override;

  const FloatingGrids grids;
  stats::Moments sizes, shares, fires, undefined;  // rules
  stats::Moments measured;                         // measures
  stats::Moments step_sizes;                       // steps
  stats::Moments head_sizes, head_fires;           // heads
  stats::RoundedMoments kept_step_shares;          // steps; when the sample is over
  stats::RoundedMoments kept_head_shares;          // heads; likewise
  CompositionCounts composition;                   // sets
  PositionTally tally;                             // [composition rule, view]

 private:
  stats::Moments step_shares, head_shares;
  void take_vector(const LayerView& layer, std::int64_t bin, std::int64_t head);
};

// Everything the analysis of floating tokens keeps over samples: sums, one set per layer, rule and view.
struct FloatingState {
  FloatingState(const LayerAxis& axis, const AnalysisOptions& options);
  // The means of a sample become one value each.
  void add(const ObservedSample& sample, const LayerAxis& axis, const FloatingSample& of);

  FloatingGrids grids;
  stats::StreamedBootstrap sizes, shares, measured;
  stats::Moments fires, undefined;
  stats::Moments step_sizes, step_shares;              // [layer, bin, view, rule], over steps and samples
  stats::Moments head_sizes, head_shares, head_fires;  // [layer, head, rule]
  stats::Moments null_sizes, null_shares;              // [rule]
  stats::Moments null_measures;                        // [measure]
  DepthSummary depth;                                  // [view, measure or rule]
  Composition composition;                             // [layer, composition rule, view]
  TokenTally tally;                                    // [composition rule, view]
  std::int64_t samples = 0;
};

}  // namespace buoy::analysis

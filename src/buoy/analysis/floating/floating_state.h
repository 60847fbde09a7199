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

// Everything the analysis of floating tokens keeps: sums, one set per layer, rule and view.
struct FloatingState {
  FloatingState(const LayerAxis& axis, const AnalysisOptions& options);
  // Closes the sample under way: its means become one value each.
  void add_sample(std::string_view id, const LayerAxis& axis);

  stats::Grid rules, steps, heads, sets, measures;
  stats::Moments sample_sizes, sample_shares, sample_fires, sample_undefined;  // [layer, view, rule]
  stats::Moments sample_measures;                                              // [layer, view, measure]
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

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/depth_summary.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/stats/moments.h"

namespace buoy::analysis {

// Selector 0 is the set {0}, what the paper takes for autoregressive models; then these rules. The additive
// one, in effect the largest position, is what it takes for masked-diffusion models.
inline constexpr std::array kAbsorptionRules = {Rule::kAdditive,    Rule::kTop1,   Rule::kThreeSigma,
                                                Rule::kShare,       Rule::kRobust, Rule::kRulliSum,
                                                Rule::kRulliPercent};
inline constexpr std::int64_t kFirstPosition = 0, kAdditiveSelector = 1;
inline constexpr auto kSelectors = static_cast<std::int64_t>(kAbsorptionRules.size()) + 1;
std::string selector_name(std::int64_t selector, const RuleOptions& options);  // "position_0", "top_1"

// The forward over the final row (where the trace has none, the last observed step), or the mean over all
// observed steps.
enum When : std::int64_t { kFinalRow, kAllSteps };
inline constexpr std::int64_t kWhens = 2;
inline constexpr std::array<std::string_view, kWhens> kWhenNames = {"final", "all"};

// Quantities over depth, [when, view, selector, absorbed or floor].
inline constexpr std::int64_t kAbsorptionQuantities = kWhens * kViews * kSelectors * 2;

// Everything the analysis of absorption keeps. Shares of 1; tables turn them into percents.
struct AbsorptionState {
  struct Place {
    std::int64_t layer, view, head;
    std::int64_t bin;  // of the step; -1: no denoising step but a look at the final row
    bool final_row;    // counts as the final row
  };
  struct Held {
    std::int64_t selector;
    double absorbed, floor, size;  // NaN where the selector is undefined
  };

  AbsorptionState(const LayerAxis& axis, const AnalysisOptions& options);
  void take(const Place& place, const Held& held);
  // One split into halves: chosen and scored on the same rows, chosen on one half and scored on the other.
  void take_halves(const Place& place, double same, double split);
  void add_sample(std::string_view id, const LayerAxis& axis, bool last_is_final);

  stats::Grid cells;                                          // [layer, when, view, selector]
  stats::Grid step_cells;                                     // [layer, bin, view, selector]
  stats::Grid head_cells;                                     // [layer, head, selector]
  stats::Grid half_cells;                                     // [layer, view]
  stats::Moments sample_absorbed, sample_floor, sample_size;  // cells, of the sample under way
  stats::Moments sample_undefined, sample_same, sample_split;
  stats::StreamedBootstrap absorbed, floors, same, split;
  stats::Moments sizes, undefined;
  stats::Moments step_absorbed, step_floor, head_absorbed, head_floor;
  DepthSummary depth;
  stats::Moments final_rows;  // one cell: share of samples whose last observed forward saw the final row
};

}  // namespace buoy::analysis

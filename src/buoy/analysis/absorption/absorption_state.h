#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/analysis/absorption/excess.h"
#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/depth_summary.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/stats/moments.h"
#include "buoy/stats/rounded_moments.h"

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

// What is counted apart.
struct AbsorptionGrids {
  explicit AbsorptionGrids(const LayerAxis& axis);

  stats::Grid cells;       // [layer, when, view, selector]
  stats::Grid step_cells;  // [layer, bin, view, selector]
  stats::Grid head_cells;  // [layer, head, selector]
  stats::Grid half_cells;  // [layer, view]
};

// The sums of one sample. Shares of 1; tables turn them into percents.
class AbsorptionSample final : public SampleAnalysis {
 public:
  AbsorptionSample(const LayerAxis& axis, const SampleFacts& sample);
  void take(const LayerView& layer) override;
  void finish(const ObservedSample& sample) override;
  void state(StateArchive& archive) override;

  const AbsorptionGrids grids;
  stats::Moments absorbed, floors, sizes, undefined;  // cells
  stats::Moments same, split;                         // half_cells
  ExcessSample excess;
  // Of step_cells and head_cells, when the sample is over.
  stats::RoundedMoments kept_step_absorbed, kept_step_floor, kept_head_absorbed, kept_head_floor;

 private:
  struct Place {
    std::int64_t layer, view, head;
    std::int64_t bin;  // of the step; -1: no denoising step but a look at the final row
    bool final_row;    // counts as the final row
  };
  struct Held {
    std::int64_t selector;
    double absorbed, floor, size;  // NaN where the selector is undefined
  };

  void take_vector(const Place& place, Detection& found);
  void take_held(const Place& place, const Held& held);
  void take_halves(const Place& place, std::span<const double> even, std::span<const double> odd);

  stats::Moments step_absorbed, step_floor, head_absorbed, head_floor;
  std::vector<std::int64_t> even_, odd_;  // query groups by the parity of positions
};

// Everything the analysis of absorption keeps over samples.
struct AbsorptionState {
  AbsorptionState(const LayerAxis& axis, const AnalysisOptions& options);
  void add(std::string_view id, const LayerAxis& axis, const AbsorptionSample& of, bool last_is_final);

  AbsorptionGrids grids;
  stats::StreamedBootstrap absorbed, floors, same, split;
  stats::Moments sizes, undefined;
  stats::Moments step_absorbed, step_floor, head_absorbed, head_floor;
  DepthSummary depth;
  ExcessState excess;
  stats::Moments final_rows;  // one cell: share of samples whose last observed forward saw the final row
};

}  // namespace buoy::analysis

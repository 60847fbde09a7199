#pragma once

#include <array>
#include <string_view>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/composition.h"
#include "buoy/analysis/core/depth_summary.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/structure/structure_classes.h"
#include "buoy/stats/moments.h"
#include "buoy/stats/rounded_moments.h"

namespace buoy::analysis {

// Whose attention: that of all queries, as published, or that of the answer's.
enum Queries : std::int64_t { kAllQueries, kAnswerQueries };
inline constexpr std::int64_t kQuerySets = 2;
inline constexpr std::array<std::string_view, kQuerySets> kQueryNames = {"all", "answer"};

// Rules whose sets are taken apart, and the kinds they are taken apart into.
inline constexpr std::array kStructureRules = {Rule::kThreeSigma, Rule::kShare};
inline constexpr std::array<std::string_view, 4> kKindNames = {"structural", "content", "mask", "padding"};

// Over depth: lift of every class from kStructural on, by queries; then the share of every kind among
// floating tokens, by rule and view.
inline constexpr std::int64_t kLiftClasses = kStructureCount - kStructural;
inline constexpr std::int64_t kLiftQuantities = kQuerySets * kLiftClasses;
inline constexpr auto kFloatingSets = static_cast<std::int64_t>(kStructureRules.size()) * kViews;
inline constexpr std::int64_t kStructureQuantities =
    kLiftQuantities + kFloatingSets * static_cast<std::int64_t>(kKindNames.size());

// What is counted apart.
struct StructureGrids {
  explicit StructureGrids(const LayerAxis& axis);

  stats::Grid cells;       // [layer, queries, class]
  stats::Grid head_cells;  // [layer, head, class from kStructural]
  stats::Grid sets;        // [layer, rule, view]
};

// The sums of one sample.
class StructureSample final : public SampleAnalysis {
 public:
  StructureSample(const LayerAxis& axis, const SampleFacts& sample);
  void take(const LayerView& layer) override;
  void finish(const ObservedSample& sample) override;
  void state(StateArchive& archive) override;

  const StructureGrids grids;
  stats::Moments shares, bases;                             // cells
  stats::RoundedMoments kept_head_shares, kept_head_bases;  // head_cells, when the sample is over
  CompositionCounts composition;                            // sets

 private:
  using Masses = std::array<double, kStructureCount>;

  void add_mass(std::int64_t first_cell, const Masses& share, const Masses& base);
  void add_head(std::int64_t first_cell, const Masses& share, const Masses& base);
  void count_floating(const LayerView& layer);
  void add_answer(const LayerView& layer, const StructureClasses& sums);

  stats::Moments head_shares, head_bases;  // head_cells
  AnswerPlaces places_;
  std::vector<std::int64_t> answer_groups_;
};

// Everything the analysis of structure keeps over samples.
struct StructureState {
  StructureState(const LayerAxis& axis, const AnalysisOptions& options);
  void add(std::string_view id, const LayerAxis& axis, const StructureSample& of);

  StructureGrids grids;
  stats::StreamedBootstrap shares, bases;
  stats::Moments head_shares, head_bases;
  Composition composition;
  DepthSummary depth;
};

}  // namespace buoy::analysis

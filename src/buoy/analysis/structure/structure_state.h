#pragma once

#include <array>
#include <string_view>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/composition.h"
#include "buoy/analysis/core/depth_summary.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/analysis/structure/structure_classes.h"
#include "buoy/stats/moments.h"

namespace buoy::analysis {

// Whose attention: that of all queries, as published, or that of the answer's.
enum Queries : std::int64_t { kAllQueries, kAnswerQueries };
inline constexpr std::int64_t kQuerySets = 2;
inline constexpr std::array<std::string_view, kQuerySets> kQueryNames = {"all", "answer"};

// Rules whose sets are taken apart, and the kinds they are taken apart into.
inline constexpr std::array kStructureRules = {Rule::kThreeSigma, Rule::kShare};
inline constexpr std::array<std::string_view, 3> kKindNames = {"structural", "content", "mask"};

// Over depth: lift of every class from kStructural on, by queries; then the share of every kind among
// floating tokens, by rule and view.
inline constexpr std::int64_t kLiftClasses = kStructureCount - kStructural;
inline constexpr std::int64_t kLiftQuantities = kQuerySets * kLiftClasses;
inline constexpr auto kFloatingSets = static_cast<std::int64_t>(kStructureRules.size()) * kViews;
inline constexpr std::int64_t kStructureQuantities =
    kLiftQuantities + kFloatingSets * static_cast<std::int64_t>(kKindNames.size());

// Everything the analysis of structure keeps over samples.
struct StructureState {
  StructureState(const LayerAxis& axis, const AnalysisOptions& options);
  void add_sample(std::string_view id, const LayerAxis& axis);

  stats::Grid cells;       // [layer, queries, class]
  stats::Grid head_cells;  // [layer, head, class from kStructural]
  stats::Grid sets;        // [layer, rule, view]
  stats::Moments sample_share, sample_base;
  stats::StreamedBootstrap shares, bases;
  stats::Moments head_shares, head_bases;
  Composition composition;
  DepthSummary depth;
};

}  // namespace buoy::analysis

#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "buoy/analysis/drift/frontier.h"
#include "buoy/analysis/drift/set_stability.h"
#include "buoy/analysis/floating/floating_rules.h"

namespace buoy::analysis {

// The rules whose sets are followed over steps: the published one and one that needs no room.
inline constexpr std::array kDriftRules = {Rule::kThreeSigma, Rule::kShare};

// Scalars of one series: those of sets for each rule of kDriftRules, then those of the path of the largest.
enum SetScalar : std::int64_t { kJaccard, kJaccardNull, kSkippedPairs, kPersistence, kSetSize, kSetScalars };
enum PathScalar : std::int64_t {
  kMoves,
  kMeanDistance,
  kTotalDistance,
  kStatic,
  kStepCorrelation,
  kLeadingCorrelation,
  kStepGivenLeading,
  kCommittedCorrelation,
  kStepGivenCommitted,
  kPathScalars,
};
inline constexpr std::array<std::string_view, kSetScalars> kSetScalarNames = {
    "jaccard", "jaccard_null", "skipped_pairs", "persistence", "set_size"};
inline constexpr std::array<std::string_view, kPathScalars> kPathScalarNames = {
    "moves",
    "mean_distance",
    "total_distance",
    "static",
    "spearman_step",
    "spearman_frontier",
    "spearman_step_given_frontier",
    "spearman_committed",
    "spearman_step_given_committed"};
inline constexpr std::int64_t kPathFrom = static_cast<std::int64_t>(kDriftRules.size()) * kSetScalars;
inline constexpr std::int64_t kDriftScalars = kPathFrom + kPathScalars;

// What drift says of one layer and head (or the mean over heads) of one sample, over its steps.
class DriftSeries {
 public:
  void reset(std::int64_t tokens);
  void add_set(size_t rule, const Anchors& anchors, std::int64_t candidates) {
    sets_[rule].add(anchors, candidates);
  }
  // Where the largest received attention lies; NaN: no position qualifies.
  void add_top(double position) { path_.push_back(position); }

  std::array<double, kDriftScalars> scalars(const Frontier& frontier) const;

 private:
  std::array<SetStability, kDriftRules.size()> sets_;
  std::vector<double> path_;
};

}  // namespace buoy::analysis

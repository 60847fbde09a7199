#include "buoy/analysis/drift/drift_series.h"

#include <cmath>
#include <limits>

#include "buoy/stats/rank_correlation.h"

namespace buoy::analysis {

void DriftSeries::reset(std::int64_t tokens) {
  for (auto& set : sets_) set.reset(tokens);
  path_.clear();
}

std::array<double, kDriftScalars> DriftSeries::scalars(const Frontier& frontier) const {
  std::array<double, kDriftScalars> out;
  out.fill(std::numeric_limits<double>::quiet_NaN());
  for (size_t r = 0; r < sets_.size(); ++r) {
    double* of_rule = out.data() + r * kSetScalars;
    of_rule[kJaccard] = sets_[r].jaccard();
    of_rule[kJaccardNull] = sets_[r].jaccard_null();
    of_rule[kSkippedPairs] = sets_[r].skipped_pairs();
    of_rule[kPersistence] = sets_[r].persistence();
    of_rule[kSetSize] = sets_[r].mean_size();
  }
  double moves = 0, distance = 0, pairs = 0;
  for (size_t t = 1; t < path_.size(); ++t) {
    const double step = std::abs(path_[t] - path_[t - 1]);
    if (std::isnan(step)) continue;
    moves += step > 0;
    distance += step;
    ++pairs;
  }
  if (pairs == 0) return out;
  double* of_path = out.data() + kPathFrom;
  of_path[kMoves] = moves;
  of_path[kMeanDistance] = distance / pairs;
  of_path[kTotalDistance] = distance;
  of_path[kStatic] = moves == 0;
  // A path that never moves has no correlation with anything.
  if (moves == 0) return out;
  of_path[kStepCorrelation] = stats::spearman(path_, frontier.step);
  of_path[kLeadingCorrelation] = stats::spearman(path_, frontier.leading);
  of_path[kStepGivenLeading] = stats::partial_spearman(path_, frontier.step, frontier.leading);
  of_path[kCommittedCorrelation] = stats::spearman(path_, frontier.committed);
  of_path[kStepGivenCommitted] = stats::partial_spearman(path_, frontier.step, frontier.committed);
  return out;
}

}  // namespace buoy::analysis

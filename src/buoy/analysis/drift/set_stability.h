#pragma once

#include <cstdint>
#include <vector>

#include "buoy/analysis/floating/floating_rules.h"

namespace buoy::analysis {

// How a set of positions holds over the steps of one run, one layer and head.
class SetStability {
 public:
  void reset(std::int64_t tokens);
  // The next step's set, chosen among `candidates` positions.
  void add(const Anchors& anchors, std::int64_t candidates);

  // All are NaN when the rule was undefined, and below two steps: one forward cannot drift.
  double jaccard() const;        // mean over pairs of consecutive steps, those with both sets empty left out
  double jaccard_null() const;   // of random sets of the same sizes: k/(2n - k) where both have k of n
  double skipped_pairs() const;  // share of pairs left out
  double persistence() const;    // longest run of one position, of the number of steps
  double mean_size() const;

 private:
  std::vector<std::int32_t> previous_;
  std::vector<std::int32_t> last_, run_;  // [tokens]: last step a position was in, length of its run
  std::int32_t steps_ = 0, longest_ = 0;
  double sizes_ = 0, jaccards_ = 0, nulls_ = 0, pairs_ = 0;
  bool defined_ = true;
};

// Size of the intersection over that of the union, of two ascending lists; NaN when both are empty.
double jaccard_of(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b);

}  // namespace buoy::analysis

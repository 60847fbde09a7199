#include <array>

#include "buoy/claims/detectable.h"

namespace buoy::claims {

// Networks of the family (docs/results/2026-11-18-family.md), trace `short` of the default study, 64
// questions: five of masked tokens with the full mask; for C4, which compares two arms, also five of next
// tokens with the causal mask. Of two views or arms the one that spreads more. Over questions: the standard
// error times the root of the questions, mean of the networks; over networks: as observed, so with what
// questions add. Two digits. A test recomputes them from studies/family/claim_quantities.csv.gz.
std::span<const Spread> assumed_spreads() {
  static constexpr std::array kSpreads = {Spread{"C1", rules::kStep.what, 0.39, 0.28, 4},
                                          Spread{"C1", rules::kStepGivenFrontier.what, 0.44, 0.37, 4},
                                          Spread{"C2", rules::kSetSize.what, 1.1, 1.2, 6},
                                          Spread{"C2", rules::kEntropy.what, 0.027, 0.16, 6},
                                          Spread{"C2", rules::kTopShare.what, 0.0041, 0.013, 6},
                                          Spread{"C4", rules::kFirstColumn.what, 0.0040, 0.0050, 3},
                                          Spread{"C4", rules::kLargestColumn.what, 0.11, 0.062, 3},
                                          Spread{"C5", rules::kAngle.what, 0.44, 0.15, 2},
                                          Spread{"C5", rules::kScale.what, 0.41, 0.12, 2},
                                          Spread{"C6", rules::kStructuralShare.what, 0.067, 0.20, 6},
                                          Spread{"C6", rules::kStructuralLift.what, 0.16, 0.14, 6},
                                          Spread{"C6", rules::kContentLift.what, 0.34, 0.45, 6}};
  return kSpreads;
}

}  // namespace buoy::claims

#include <array>

#include "buoy/claims/detectable.h"

namespace buoy::claims {

// Over questions: the diffusion model of 7.1 million parameters that was bundled up to 2026-11-17, trace
// `attention` of the default study of that time. Over networks: 40
// untrained networks of its config (docs/results/2026-11-18-null-studies.md); networks that were trained may
// differ more, and where their spread is known it should stand here.
std::span<const Spread> assumed_spreads() {
  static constexpr std::array kSpreads = {Spread{"C1", rules::kStep.what, 0.55, 0.10, 4},
                                          Spread{"C1", rules::kStepGivenFrontier.what, 0.33, 0.073, 4},
                                          Spread{"C2", rules::kSetSize.what, 1.1, 0.29, 6},
                                          Spread{"C2", rules::kEntropy.what, 0.024, 0.0015, 6},
                                          Spread{"C2", rules::kTopShare.what, 0.0051, 0.0005, 6},
                                          Spread{"C4", rules::kFirstColumn.what, 0.0025, 0.0014, 3},
                                          Spread{"C4", rules::kLargestColumn.what, 0.017, 0.0035, 3},
                                          Spread{"C5", rules::kAngle.what, 0.028, 0.017, 2},
                                          Spread{"C5", rules::kScale.what, 0.018, 0.0095, 2},
                                          Spread{"C6", rules::kStructuralShare.what, 0.16, 0.11, 6},
                                          Spread{"C6", rules::kStructuralLift.what, 0.058, 0.028, 6},
                                          Spread{"C6", rules::kContentLift.what, 0.24, 0.02, 6}};
  return kSpreads;
}

}  // namespace buoy::claims

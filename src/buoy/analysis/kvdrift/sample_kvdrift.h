#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/quantities.h"

namespace buoy::analysis {

// Of keys, then of values.
enum DriftedTokens : std::int64_t {
  kAllTokens,
  kBestToken,
  kMaskedTokens,
  kRevealedTokens,
  kSettledTokens,
  kDriftedTokens
};
inline constexpr std::int64_t kMovingTokens = 2 * kDriftedTokens, kMovingStates = kMovingTokens + 1,
                              kKvDriftQuantities = kMovingStates + 1;
inline constexpr stats::Interval kDrifts{0, 2};  // 1 less a cosine
inline constexpr std::array<Quantity, kKvDriftQuantities> kKvDriftMeasures = {{
    {"keys", kDrifts},
    {"keys_best", kDrifts},
    {"keys_masked", kDrifts},
    {"keys_revealed", kDrifts},
    {"keys_settled", kDrifts},
    {"values", kDrifts},
    {"values_best", kDrifts},
    {"values_masked", kDrifts},
    {"values_revealed", kDrifts},
    {"values_settled", kDrifts},
    {"moving", stats::kShares},
    {"states_moving", stats::kShares},
}};

inline constexpr double kStandingStill = 0.99;  // cosine with the step before

// How far keys and values of one sample move from step to step.
class SampleKvDrift final : public SampleAnalysis {
 public:
  explicit SampleKvDrift(const SampleFacts& sample);

  void take(const LayerView& layer) override;
  void finish(const ObservedSample& sample) override;
  void state(StateArchive& archive) override { means.state(archive); }

  QuantityMeans means;

 private:
  // The step before, as a layer saw it.
  struct Before {
    std::int64_t place = -1;  // among all forwards that were observed; -1: none
    Reach reach;
    std::vector<std::uint8_t> masked;  // [tokens]
  };

  bool compares(const LayerView& layer) const;
  // `drift`: of the tokens that ran.
  void take_drift(const LayerView& layer, std::int64_t first, const std::vector<double>& drift);

  std::vector<Before> before_;  // [layers]
};

}  // namespace buoy::analysis

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/per_reach.h"
#include "buoy/analysis/core/quantities.h"
#include "buoy/analysis/sinks/sink_life.h"

namespace buoy::analysis {

enum SinkQuantity : std::int64_t {
  kSinkFirst,
  kSinkBest,
  kFirstAbove,
  kBestAbove,
  kRulliSumCount,
  kRulliSumShare,
  kRulliPercentCount,
  kRulliPercentShare,
  kFiltered,
  kSinkStays,
  kSinkMoves,
  kSinkDies,
  kSinkLifetime,
  kSinkStatic,
  kMaskedBest,
  kRevealedBest,
  kSameBest,
  kValueRatio,
  kValueDrain,
  kBestContribution,
  kSinkQuantities
};
inline constexpr std::array<Quantity, kSinkQuantities> kSinkMeasures = {{
    {"first", stats::kShares},       {"best", stats::kShares},
    {"first_above", stats::kShares}, {"best_above", stats::kShares},
    {"rulli_sum", kAtLeastZero},     {"rulli_sum_share", stats::kShares},
    {"rulli_percent", kAtLeastZero}, {"rulli_percent_share", stats::kShares},
    {"filtered", stats::kShares},    {"stays", stats::kShares},
    {"moves", stats::kShares},       {"dies", stats::kShares},
    {"lifetime", stats::kShares},    {"static", stats::kShares},
    {"masked_best", stats::kShares}, {"revealed_best", stats::kShares},
    {"same_best", stats::kShares},   {"value_ratio", kAtLeastZero},
    {"drain", stats::kShares},       {"contribution", stats::kShares},
}};

// Epsilons of the curve, beside the one that is an option.
inline constexpr std::array kSinkEpsilons = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
inline constexpr auto kEpsilonCount = static_cast<std::int64_t>(kSinkEpsilons.size());
inline constexpr double kSmallValue = 0.5;  // of the mean of the others: such a value drains

// The sinks of one sample.
class SampleSinks final : public SampleAnalysis {
 public:
  SampleSinks(const SampleFacts& sample, double epsilon);

  void take(const LayerView& layer) override;
  void finish_layer(const ObservedSample& sample, std::int64_t l) override;
  void finish(const ObservedSample& sample) override;
  void state(StateArchive& archive) override;

  QuantityMeans means;
  // Share of heads above each of kSinkEpsilons: of key 0, of the best key.
  std::vector<float> above;  // [2, epsilons]

 private:
  struct Null {                // of even attention
    std::vector<double> even;  // [keys]
    double first, best;
    std::array<std::vector<std::int32_t>, 2> rulli;  // what Rulli's rules select there, by scale
  };
  static Null null_of(const Reach& reach);

  void take_shares(const LayerView& layer);
  void take_rules(const LayerView& layer);
  void take_queries(const LayerView& layer);
  void take_values(const LayerView& layer);
  void take_contribution(const LayerView& layer);

  double epsilon_;
  std::int64_t heads_, layers_;
  PerReach<Null> nulls_;
  std::vector<std::int64_t> masked_groups_, revealed_groups_;
  std::vector<SinkLife> lives_;  // [layers, heads], until the layer is finished
  std::vector<double> counts_;   // [layers, 2, epsilons], heads above; of maps_ [layers]
  std::vector<double> maps_;
};

}  // namespace buoy::analysis

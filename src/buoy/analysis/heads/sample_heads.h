#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/per_reach.h"
#include "buoy/analysis/core/quantities.h"

namespace buoy::analysis {

// Rows by what they write.
enum RowSort : std::int64_t { kPromptRow, kMaskedRow, kRevealedRow, kRowSorts };

enum HeadQuantity : std::int64_t {
  kHeadEntropy,
  kHeadEntropyShare,
  kEntropyOfSort,  // one for each sort of rows
  kFirstOfSort = kEntropyOfSort + kRowSorts,
  kValueLength = kFirstOfSort + kRowSorts,
  kAttendedLength,
  kHeadOutput,
  kOutputShare,
  kDormant,
  kDormantAtSink,
  kHeadQuantities
};
inline constexpr std::array<Quantity, kHeadQuantities> kHeadMeasures = {{
    {"entropy", kAtLeastZero},
    {"entropy_share", stats::kShares},
    {"entropy_prompt", kAtLeastZero},
    {"entropy_masked", kAtLeastZero},
    {"entropy_revealed", kAtLeastZero},
    {"first_prompt", stats::kShares},
    {"first_masked", stats::kShares},
    {"first_revealed", stats::kShares},
    {"value_length", kAtLeastZero},
    {"attended_length", kAtLeastZero},
    {"output", kAtLeastZero},
    {"output_share", kAtLeastZero},
    {"dormant", stats::kShares},
    {"dormant_at_sink", stats::kShares},
}};

inline constexpr double kDormantBelow = 0.5;  // of the mean output of the layer's heads

// What the heads of one sample do.
class SampleHeads final : public SampleAnalysis {
 public:
  SampleHeads(const SampleFacts& sample, double sink_share);

  void take(const LayerView& layer) override;
  void finish(const ObservedSample& /*sample*/) override { means.finish(); }
  void state(StateArchive& archive) override { means.state(archive); }

  QuantityMeans means;

 private:
  void take_rows(const LayerView& layer);
  void take_values(const LayerView& layer);
  void take_outputs(const LayerView& layer);

  // Of even attention.
  struct Even {
    std::vector<double> keys, log_keys;  // [rows that ran]: how many each sees
    std::vector<double> received;        // [keys]
  };
  static Even even_of(const Reach& reach);

  double sink_share_;
  PerReach<Even> even_;
};

}  // namespace buoy::analysis

#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/analysis.h"
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
inline constexpr std::array<std::string_view, kHeadQuantities> kHeadNames = {
    "entropy",      "entropy_share", "entropy_prompt", "entropy_masked", "entropy_revealed",
    "first_prompt", "first_masked",  "first_revealed", "value_length",   "attended_length",
    "output",       "output_share",  "dormant",        "dormant_at_sink"};

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

  double sink_share_;
  std::vector<double> keys_, log_keys_, even_;  // [tokens]: that a row sees; even attention
};

}  // namespace buoy::analysis

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/core/quantities.h"

namespace buoy::analysis {

enum StepQuantity : std::int64_t {
  kStepCosine,
  kStepOverlap,
  kFirstCosine,
  kFirstOverlap,
  kRecall,
  kRecallBefore,
  kRecalledMass,
  kRowCosine,
  kBlockRecall,
  kBlockRecalledMass,
  kStepQuantities
};
inline constexpr std::array<Quantity, kStepQuantities> kStepMeasures = {{
    {"cosine", stats::kShares},
    {"overlap", stats::kShares},
    {"first_cosine", stats::kShares},
    {"first_overlap", stats::kShares},
    {"recall", stats::kShares},
    {"recall_before", stats::kShares},
    {"recalled_mass", stats::kShares},
    {"row_cosine", stats::kShares},
    {"block_recall", stats::kShares},
    {"block_recalled_mass", stats::kShares},
}};

// How the attention of one sample changes from step to step.
class SampleSteps final : public SampleAnalysis {
 public:
  SampleSteps(const SampleFacts& sample, std::int64_t keys, bool rows);  // rows: compared, where they are

  void take(const LayerView& layer) override;
  void finish_layer(const ObservedSample& /*sample*/, std::int64_t l) override {
    layers_[static_cast<size_t>(l)] = {};
  }
  void finish(const ObservedSample& /*sample*/) override { means.finish(); }
  void state(StateArchive& archive) override { means.state(archive); }

  QuantityMeans means;

 private:
  // Of a layer: [heads, tokens] each, empty before the first step; best keys also where there are too few.
  struct Seen {
    std::vector<double> first, before, first_top, before_top;
    std::vector<double> block_top;  // of the first step of the block under way
    std::int64_t block = -1;        // its first position
    std::vector<float> rows;        // [rows, heads, tokens]
  };

  std::vector<double> top_of(const LayerView& layer) const;
  void compare(const LayerView& layer, const Seen& seen, const std::vector<double>& top);
  void compare_rows(const LayerView& layer, Seen& seen);

  std::int64_t keys_;
  bool rows_;
  std::vector<Seen> layers_;
};

}  // namespace buoy::analysis

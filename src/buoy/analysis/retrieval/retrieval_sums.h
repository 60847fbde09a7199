#pragma once

#include <array>
#include <vector>

#include "buoy/analysis/retrieval/retrieval_score.h"
#include "buoy/result/table.h"
#include "buoy/stats/mean_error.h"
#include "buoy/stats/streamed_bootstrap.h"
#include "buoy/trace/manifest.h"

namespace buoy::analysis {

// Retrieval scores of every head over samples.
class RetrievalSums {
 public:
  RetrievalSums(const trace::ModelCard& model, const stats::BootstrapOptions& options);

  void add(const ObservedSample& sample, const RetrievalRows& rows);

  Table by_head() const;
  Table by_layer() const;
  Table summary() const;
  Table counts() const;

  // With intervals of their own per head.
  enum Score : std::uint8_t { kSet, kAdded, kHit, kMass, kScores };
  // Means per head; the shares of targets follow kActive.
  enum Extra : std::uint8_t {
    kSetGated,
    kAddedGated,
    kActive,
    kTargets,
    kExtras = kTargets + static_cast<int>(Target::kCount)
  };
  enum Chance : std::uint8_t {
    kSetChance,
    kAddedChance,
    kHitChance,
    kSetChanceGated,
    kAddedChanceGated,
    kChances
  };

 private:
  std::int64_t observed_heads() const;
  double largest_mass() const;

  std::int64_t layers_, heads_;
  stats::StreamedBootstrap head_scores_;          // [layers, heads, scores]
  stats::StreamedBootstrap layer_scores_;         // [layers, scores]
  stats::MeanErrors extras_;                      // [layers, heads, extras]
  stats::MeanErrors chances_;                     // [chances]
  std::vector<std::int64_t> strict_hits_, hits_;  // [layers, heads]
  double strict_expected_ = 0, hits_expected_ = 0;
  std::int64_t tests_ = 0, passed_ = 0, tokens_ = 0, needle_tokens_ = 0, no_evidence_ = 0, no_tokens_ = 0;
  LeftOut left_out_;
};

}  // namespace buoy::analysis

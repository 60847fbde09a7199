#pragma once

#include <optional>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/flow/rollout_flow.h"
#include "buoy/analysis/flow/sample_flow.h"

namespace buoy::analysis {

// The flow of one sample, reduced when it is over to what tables are made of: matrices of single steps are
// let go.
class KeptFlow final : public SampleAnalysis {
 public:
  // `most` is the largest truncated depth of rollouts.
  KeptFlow(const SampleFacts& sample, std::int64_t most);
  void take(const LayerView& layer) override { rows_.take(layer); }
  void finish(const ObservedSample& sample) override;
  void state(StateArchive& archive) override;

  // Without `steps` and `final_row`; shares by head in single precision, `last` without them.
  const SampleFlow& flow() const { return flow_; }
  bool sees_published() const { return sees_published_; }
  const SampleRollout& rollout() const { return rollout_; }
  const MeanMatrices& matrices() const { return matrices_; }

 private:
  void make_room();

  FlowSample rows_;
  std::int64_t most_, layers_, heads_;
  bool sees_final_row_, sees_published_;
  SampleFlow flow_;
  SampleRollout rollout_;
  MeanMatrices matrices_;
};

}  // namespace buoy::analysis

#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "buoy/analysis/flow/rollout_flow.h"
#include "buoy/analysis/flow/sample_flow.h"
#include "buoy/result/table.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// Gold documents against the others, by the place of the gold one (claim C8).
class GoldFlowSums {
 public:
  GoldFlowSums(std::int64_t layers, const stats::BootstrapOptions& options)
      : layers_(layers), options_(options) {}

  // Leaves out samples without gold or without any other document.
  void add(const ObservedSample& sample, const SampleFlow& flow, const SampleRollout& rollout);
  Table by_layer() const;
  Table by_rollout() const;

 private:
  struct Position {
    stats::StreamedBootstrap lift;  // [layers, gold or other, lift or mass]
    // By forward, pooling and depth: [gold, other, the same if even].
    std::map<std::array<std::int64_t, 3>, stats::StreamedBootstrap> rollouts;
  };
  Position& at(std::int64_t position);

  std::int64_t layers_;
  stats::BootstrapOptions options_;
  std::map<std::int64_t, Position> positions_;  // kAll, kSeveral, 1, 2, ...
};

}  // namespace buoy::analysis

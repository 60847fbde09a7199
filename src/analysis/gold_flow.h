#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "analysis/bootstrap.h"
#include "analysis/rollout_flow.h"
#include "analysis/sample_flow.h"
#include "base/table.h"

namespace buoy::analysis {

// Gold documents against the others, by the place of the gold one (claim C8).
class GoldFlowSums {
 public:
  GoldFlowSums(std::int64_t layers, const BootstrapOptions& options) : layers_(layers), options_(options) {}

  // Leaves out samples without gold or without any other document.
  void add(const ObservedSample& sample, const SampleFlow& flow, const SampleRollout& rollout);
  Table by_layer() const;
  Table by_rollout() const;

 private:
  struct Position {
    Bootstrap lift;  // [layers, gold or other, lift or mass]
    // By forward, pooling and depth: [gold, other, the same if even].
    std::map<std::array<std::int64_t, 3>, Bootstrap> rollouts;
  };
  Position& at(std::int64_t position);

  std::int64_t layers_;
  BootstrapOptions options_;
  std::map<std::int64_t, Position> positions_;  // kAll, kSeveral, 1, 2, ...
};

}  // namespace buoy::analysis

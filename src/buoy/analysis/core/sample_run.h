#pragma once

#include <memory>
#include <span>
#include <vector>

#include "buoy/analysis/core/analysis.h"

namespace buoy::analysis {

// One sample on its way through several analyses.
class SampleRun {
 public:
  SampleRun(std::span<const std::unique_ptr<Analysis>> analyses, const SampleFacts& sample);

  // As SampleAnalysis::take.
  void take(const LayerView& layer);
  void finish_layer(const ObservedSample& sample, std::int64_t l);
  void end(const ObservedSample& sample);

 private:
  std::span<const std::unique_ptr<Analysis>> analyses_;
  std::vector<std::unique_ptr<SampleAnalysis>> kept_;  // [analyses]
};

}  // namespace buoy::analysis

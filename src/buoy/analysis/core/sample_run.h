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

  // What each analysis kept, in their order: of a sample that ended.
  std::vector<std::vector<std::uint8_t>> states() const;
  // In place of take() and finish_layer(): what states() gave of the same sample. `where` names the state of
  // an analysis in errors.
  void read(size_t analysis, std::span<const std::uint8_t> state, const std::string& where);

 private:
  std::span<const std::unique_ptr<Analysis>> analyses_;
  std::vector<std::unique_ptr<SampleAnalysis>> kept_;  // [analyses]
  bool is_read_ = false;
};

}  // namespace buoy::analysis

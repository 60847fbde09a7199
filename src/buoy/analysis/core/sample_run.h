#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buoy/analysis/core/analysis.h"

namespace buoy::analysis {

// Analyses that a trace turns out to lack something for: the others go on. Several threads use it.
class LackingAnalyses {
 public:
  explicit LackingAnalyses(size_t analyses) : reasons_(analyses) {}

  bool has(size_t analysis) const;
  void add(size_t analysis, const std::exception& error);  // the first of each counts
  bool all() const;
  const std::vector<std::optional<std::string>>& reasons() const { return reasons_; }  // [analyses]

 private:
  mutable std::mutex mutex_;
  std::vector<std::optional<std::string>> reasons_;
};

// One sample on its way through several analyses.
class SampleRun {
 public:
  // Without `lacking`, what an analysis throws is thrown on. It must stay.
  SampleRun(std::span<const std::unique_ptr<Analysis>> analyses, const SampleFacts& sample,
            LackingAnalyses* lacking = nullptr);

  // As SampleAnalysis::take.
  void take(const LayerView& layer);
  void take_forward(const ForwardView& forward);
  void finish_layer(const ObservedSample& sample, std::int64_t l);
  // When all layers are finished, what concerns this sample alone: by any thread, beside other samples. Left
  // out, it is part of end().
  void finish(const ObservedSample& sample);
  void end(const ObservedSample& sample);

  // What each analysis kept, in their order: of a sample that is finished.
  std::vector<std::vector<std::uint8_t>> states() const;
  // In place of take() and finish_layer(): each analysis reads what states() gave of the same sample.
  void read(const std::function<StateArchive(size_t analysis)>& state_of);

 private:
  template <typename Work>
  void guarded(size_t analysis, const Work& work);
  template <typename Work>
  void each(const Work& work);
  template <typename Work>
  void for_all(const Work& work) const;

  std::span<const std::unique_ptr<Analysis>> analyses_;
  LackingAnalyses* lacking_;
  std::vector<std::unique_ptr<SampleAnalysis>> kept_;  // [analyses]; null: it is lacking
  const bool is_large_;
  bool is_finished_ = false;
};

}  // namespace buoy::analysis

#pragma once

#include <span>
#include <string>
#include <vector>

#include "buoy/analysis/flow/sample_flow.h"
#include "buoy/result/table.h"
#include "buoy/stats/mean_error.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// Sums of what `values` [regions] say of some regions; NaN for none.
double sum_of(std::span<const double> values, const std::vector<std::int64_t>& regions);

// One-layer mass from the answer to kinds of regions, beside what even attention would give: the calibrated
// reading of region flow.
class AnswerFlowSums {
 public:
  AnswerFlowSums(std::int64_t layers, std::int64_t heads, const stats::BootstrapOptions& options);

  void add(const ObservedSample& sample, const SampleFlow& flow);
  Table by_layer() const;
  Table by_head() const;

 private:
  std::int64_t layers_, heads_;
  stats::StreamedBootstrap mass_;     // [kinds of queries, layers, kinds of regions]
  stats::StreamedBootstrap uniform_;  // [kinds of queries, kinds of regions]
  stats::MeanErrors head_;            // [layers, heads, quantities]
};

}  // namespace buoy::analysis

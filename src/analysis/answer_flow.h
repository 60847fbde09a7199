#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/bootstrap.h"
#include "analysis/mean_error.h"
#include "analysis/sample_flow.h"
#include "base/table.h"

namespace buoy::analysis {

// Sums of what `values` [regions] say of some regions; NaN for none.
double sum_of(std::span<const double> values, const std::vector<std::int64_t>& regions);

// One-layer mass from the answer to kinds of regions, beside what even attention would give: the calibrated
// reading of region flow.
class AnswerFlowSums {
 public:
  AnswerFlowSums(std::int64_t layers, std::int64_t heads, const BootstrapOptions& options);

  void add(const ObservedSample& sample, const SampleFlow& flow);
  Table by_layer() const;
  Table by_head() const;

 private:
  std::int64_t layers_, heads_;
  Bootstrap mass_;     // [kinds of queries, layers, kinds of regions]
  Bootstrap uniform_;  // [kinds of queries, kinds of regions]
  MeanErrors head_;    // [layers, heads, quantities]
};

}  // namespace buoy::analysis

#pragma once

#include <memory>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/flow/region_matrix.h"
#include "buoy/analysis/sample/sample_regions.h"

namespace buoy::analysis {

// What the answer's queries of one layer give to each region, as shares of their attention.
struct AnswerFlow {
  std::vector<double> all, revealed, masked;  // [regions], mean over heads; NaN where there is no such query
  std::vector<double> by_head;                // [heads, regions], all answer queries
};

// The flow between the regions of one sample: which does not grow with anything but its steps and layers.
struct SampleFlow {
  SampleRegions regions;
  std::vector<AnswerFlow> mean, last;  // [layers]: mean over the steps, and the last step
  std::vector<double> uniform;         // [regions]: `all` if attention were even
  // The same of `revealed` and `masked`: with a causal mask it matters where these are. Mean over the steps.
  std::vector<double> uniform_revealed, uniform_masked;
  // [steps][layers], head mean; rows of regions that have no query groups of their own are zero.
  std::vector<std::vector<RegionMatrix>> steps;
  // [layers], the same of the forward over the finished row; empty when the trace holds none.
  std::vector<RegionMatrix> final_row;
  bool denoises = false;      // `steps` are denoising steps, not the one pass of an autoregressive model
  RegionMatrix uniform_mass;  // the same if attention were even, all rows
};

// Makes the flow of a sample from its records: the array mass, or received where there is none.
class FlowSample {
 public:
  explicit FlowSample(const SampleFacts& sample);
  ~FlowSample();
  void take(const LayerView& layer);

  // What is known before the first forward; `mean` and `last` are still to come.
  const SampleFlow& begun() const { return flow_; }
  // Whether even attention of revealed and of masked queries differs from that of all answer queries.
  bool nulls_by_state() const { return nulls_by_state_; }
  // After the last forward.
  SampleFlow flow() const;
  void let_go() { flow_.steps = {}, flow_.final_row = {}; }

 private:
  struct LayerSums;

  void add_nulls(const LayerView& layer);

  SampleFlow flow_;
  bool from_mass_ = false, nulls_by_state_ = false;
  std::vector<LayerSums> sums_;       // [layers]
  std::unique_ptr<LayerSums> nulls_;  // of even attention; null unless nulls_by_state_
};

}  // namespace buoy::analysis

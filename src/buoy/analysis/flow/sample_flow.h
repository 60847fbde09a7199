#pragma once

#include <memory>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/flow/published_regions.h"
#include "buoy/analysis/flow/region_matrix.h"
#include "buoy/analysis/flow/word_rows.h"
#include "buoy/analysis/sample/sample_regions.h"

namespace buoy::analysis {

// What the answer's queries of one layer give to each region, as shares of their attention. These are the
// rows that write the words of the answer, which the final row tells (WordRows). Without row_mass they are
// the rows of the query groups of the answer: those that write what is not yet known to be padding.
struct AnswerFlow {
  std::vector<double> all, revealed, masked;  // [regions], mean over heads; NaN where there is no such query
  std::vector<double> by_head;                // [heads, regions], all answer queries
};

// The same if attention were even; [regions].
struct EvenFlow {
  std::vector<double> all, revealed, masked, last;  // means over the steps; the last step
};

// The flow between the regions of one sample: which does not grow with anything but its steps and layers.
struct SampleFlow {
  SampleRegions regions;
  std::vector<AnswerFlow> mean, last;  // [layers]: mean over the steps, and the last step
  EvenFlow even;
  // [steps][layers], head mean; rows of regions that have no query groups of their own are zero.
  std::vector<std::vector<RegionMatrix>> steps;
  // [layers], the same of the forward over the finished row; empty when the trace holds none.
  std::vector<RegionMatrix> final_row;
  // [layers], the same forward as published: see PublishedRegions; empty where the trace cannot tell.
  std::vector<RegionMatrix> published;
  std::vector<ForwardRegions> at_step;  // [steps]
  ForwardRegions at_final_row, at_published;
  bool denoises = false;  // `steps` are denoising steps, not the one pass of an autoregressive model
};

// Makes the flow of a sample from its records: the array mass, or received where there is none.
class FlowSample {
 public:
  explicit FlowSample(const SampleFacts& sample);
  ~FlowSample();
  void take(const LayerView& layer);

  // What is known before the first forward; `mean` and `last` are still to come.
  const SampleFlow& begun() const { return flow_; }
  // After the last forward.
  SampleFlow flow(const ObservedSample& sample) const;
  void let_go() {
    flow_.steps = {}, flow_.final_row = {}, flow_.published = {};
    words_.let_go();
  }

 private:
  struct LayerSums;

  void add_words(const ObservedSample& sample, SampleFlow& out) const;

  SampleFlow flow_;
  bool from_mass_ = false;
  PublishedRegions published_;
  WordRows words_;
  std::vector<LayerSums> sums_;  // [layers]
};

}  // namespace buoy::analysis

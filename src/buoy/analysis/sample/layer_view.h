#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buoy/analysis/sample/detection.h"
#include "buoy/analysis/sample/forward_facts.h"
#include "buoy/analysis/sample/layer_values.h"
#include "buoy/analysis/sample/received.h"
#include "buoy/analysis/sample/sample_facts.h"

namespace buoy::analysis {

// What a thread uses again from layer to layer.
struct LayerScratch {
  Received received;
  Detection detection;
};

// One layer of one forward, as analyses take it. What several of them need is computed once, when the first
// one asks. Used by one thread.
class LayerView {
 public:
  LayerView(const SampleFacts& sample, const ForwardFacts& forward, std::int64_t layer_index,
            LayerValues& values, const RuleOptions& rules, LayerScratch& scratch)
      : sample(sample), forward(forward), l(layer_index), values_(values), rules_(rules), scratch_(scratch) {}

  const SampleFacts& sample;
  const ForwardFacts& forward;
  const std::int64_t l;  // index among the observed layers

  std::int64_t s() const { return forward.index; }
  std::int32_t layer() const { return sample.layers[static_cast<size_t>(l)]; }  // its number

  std::span<const float> floats(std::string_view array) const { return values_.floats(array); }
  std::span<const std::int32_t> integers(std::string_view array) const { return values_.integers(array); }

  // Received attention of all queries.
  const Received& received() const;
  // Of the queries of the named groups (of SampleFacts::group_names); zeros when they are empty.
  Received received(const std::vector<std::int64_t>& groups) const;
  // Which positions stand out in it, by each rule.
  Detection& detection() const;

 private:
  LayerValues& values_;
  const RuleOptions& rules_;
  LayerScratch& scratch_;
  mutable bool has_received_ = false, has_detection_ = false;
};

}  // namespace buoy::analysis

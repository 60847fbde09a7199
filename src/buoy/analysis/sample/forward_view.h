#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "buoy/analysis/sample/forward_facts.h"
#include "buoy/analysis/sample/layer_values.h"
#include "buoy/analysis/sample/sample_facts.h"

namespace buoy::analysis {

// What was observed of one forward as a whole: arrays without layers.
class ForwardView {
 public:
  ForwardView(const SampleFacts& sample, const ForwardFacts& forward, LayerValues& values)
      : sample(sample), forward(forward), values_(values) {}

  const SampleFacts& sample;
  const ForwardFacts& forward;

  std::int64_t s() const { return forward.index; }
  std::span<const float> floats(std::string_view array) const { return values_.floats(array); }
  std::span<const std::int32_t> integers(std::string_view array) const { return values_.integers(array); }

 private:
  LayerValues& values_;
};

}  // namespace buoy::analysis

#pragma once

#include <vector>

#include "buoy/analysis/sample/observed_sample.h"

namespace buoy::analysis {

// How far unmasking has come at every observed step; [steps].
struct Frontier {
  std::vector<double> step;       // number of the step
  std::vector<double> leading;    // leading generated slots already unmasked when its forward ran
  std::vector<double> committed;  // mean position of the tokens its forward revealed; NaN: none
};

Frontier frontier_of(const ObservedSample& sample);

// Spearman of position and step over the generated tokens: 1 left to right, about 0 in random order.
double reveal_order(const ObservedSample& sample);

}  // namespace buoy::analysis

#pragma once

#include <memory>
#include <vector>

#include "buoy/trace/manifest.h"
#include "buoy/trace/sample.h"

namespace buoy::python {

// What a run left behind. Numpy's arrays are views of its memory and keep it alive.
struct HeldSample {
  trace::Sample sample;
  std::shared_ptr<const trace::Manifest> manifest = nullptr;  // of a run that can be saved
};

// Adds what was observed to what is known of the tokens, in the order of a sample file.
void add_observed(trace::Sample& sample, std::vector<trace::Array> observed);

}  // namespace buoy::python

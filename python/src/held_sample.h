#pragma once

#include <memory>
#include <optional>

#include "buoy/trace/manifest.h"
#include "buoy/trace/sample.h"

namespace buoy::python {

// What a run left behind. Numpy's arrays are views of its memory and keep it alive.
struct HeldSample {
  trace::Sample sample;
  std::shared_ptr<const trace::Manifest> manifest = nullptr;  // of a run that can be saved
};

}  // namespace buoy::python

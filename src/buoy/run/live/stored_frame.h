#pragma once

#include "buoy/trace/sample.h"
#include "buoy/trace/stored_sample.h"

namespace buoy::run {

// All of a stored sample but what was observed or made of it: tokens, regions, steps, texts. What a running
// sample has from its prompt and its decoder.
trace::Sample stored_frame(const trace::StoredSample& stored);

}  // namespace buoy::run

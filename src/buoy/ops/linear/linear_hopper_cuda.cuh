#pragma once

#include "buoy/ops/linear/linear_cuda.h"

namespace buoy::ops {

// Our own kernel for sm_90: whether this GPU and these sizes and addresses allow it.
bool hopper_can_multiply(const DeviceLinearArgs& args);

// Whether it is the faster way: when its tiles keep nearly all multiprocessors busy to the end (measured in
// docs/results). A rule over the shape alone: the same product always goes the same way, and its last bits
// with it.
bool hopper_multiplies_faster(const DeviceLinearArgs& args);

void multiply_hopper(const Stream& stream, const DeviceLinearArgs& args);

}  // namespace buoy::ops

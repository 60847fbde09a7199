#pragma once

#include "buoy/ops/linear/linear.h"

namespace buoy::ops {

void linear_cpu(const Context& context, const LinearArgs& args, LinearScratch& scratch);

}  // namespace buoy::ops

// output = input weight^T of a few rows on Hopper, where reading the weights is all there is to do.

#pragma once

#include "buoy/ops/linear/linear_cuda.h"

namespace buoy::ops {

inline constexpr std::int64_t kMostFewRows = 64;

// Whether the shape, the GPU and the kind of output allow it.
bool few_rows_can_multiply(const DeviceLinearArgs& args);

// A row's sums are formed in the same order whatever the number of rows.
void multiply_few_rows(const Stream& stream, const DeviceLinearArgs& args);

}  // namespace buoy::ops

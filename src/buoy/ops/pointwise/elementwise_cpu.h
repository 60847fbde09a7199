#pragma once

#include <cstddef>

namespace buoy::ops {

void swiglu_cpu(float* gate, const float* up, size_t count);
bool all_finite_cpu(const float* values, size_t count);

}  // namespace buoy::ops

#pragma once

#include <cstdint>

#include "buoy/tensor/context.h"

namespace buoy::ops {

// gate = silu(gate) * up, `count` numbers in place.
void swiglu(const Context& context, float* gate, const float* up, std::int64_t count);
void swiglu_reference(const float* gate, const float* up, std::int64_t count, double* output);

// sum += term.
void add(const Context& context, float* sum, const float* term, std::int64_t count);

// False when any of the numbers is a NaN or an infinity.
bool all_finite(const Context& context, const float* values, std::int64_t count);

}  // namespace buoy::ops

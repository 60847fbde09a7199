#include <cmath>

#include "buoy/ops/pointwise/elementwise.h"

namespace buoy::ops {

void swiglu_reference(const float* gate, const float* up, std::int64_t count, double* output) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double g = gate[i];
    output[i] = g / (1.0 + std::exp(-g)) * up[i];
  }
}

}  // namespace buoy::ops

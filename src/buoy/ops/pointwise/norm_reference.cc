#include <cmath>

#include "buoy/ops/pointwise/norm.h"

namespace buoy::ops {

void rms_norm_reference(const NormArgs& args, double* output) {
  for (std::int64_t r = 0; r < args.rows; ++r) {
    const float* x = args.input + r * args.width;
    double sum = 0;
    for (std::int64_t i = 0; i < args.width; ++i) sum += double{x[i]} * x[i];
    const double scale = 1.0 / std::sqrt(sum / static_cast<double>(args.width) + args.eps);
    for (std::int64_t i = 0; i < args.width; ++i) output[r * args.width + i] = x[i] * scale * args.weight[i];
  }
}

}  // namespace buoy::ops

#pragma once

#include <cstdint>

#include "buoy/tensor/context.h"

namespace buoy::ops {

struct NormArgs {
  const float* input;  // [rows, width]
  std::int64_t rows;
  std::int64_t width;
  const float* weight;  // [width]
  double eps;
  float* output;  // [rows, width]; may be the input
};

// RMSNorm: x * rsqrt(mean(x^2) + eps) * weight, row by row. With width = head_dim and rows = tokens x
// heads it is the q/k norm.
void rms_norm(const Context& context, const NormArgs& args);

void rms_norm_reference(const NormArgs& args, double* output);

}  // namespace buoy::ops

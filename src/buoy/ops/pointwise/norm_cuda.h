#pragma once

#include <cstdint>

#include "buoy/tensor/stream.h"

namespace buoy::ops {

struct DeviceNormArgs {
  const float* input;  // [any rows, width]
  // [rows]: which rows of the input; null: the first `rows`. No kernel right before writes it.
  const std::int32_t* chosen;
  std::int64_t rows;
  std::int64_t width;
  const float* weight;  // [width], likewise
  double eps;
  std::uint16_t* output;  // bf16 [rows, width]
};

// RMSNorm of the float residual stream, rounded once, to bf16. Pointers are to device memory.
void rms_norm_cuda(const Stream& stream, const DeviceNormArgs& args);

}  // namespace buoy::ops

#pragma once

#include <cstdint>

#include "buoy/tensor/stream.h"

namespace buoy::ops {

// Numbers [count, rows, width] of which the sum over the first axis is meant.
struct DeviceParts {
  const float* first = nullptr;
  std::int64_t count = 0;
};

struct DeviceNormArgs {
  float* input;                // [any rows, width]
  const std::int32_t* chosen;  // [rows]: which rows of the input; null: the first `rows`
  std::int64_t rows;
  std::int64_t width;
  const float* weight;  // [width]
  double eps;
  std::uint16_t* output;  // bf16 [rows, width]
  // What is added to the input's rows before, in float; the sums replace them. Not with chosen rows.
  DeviceParts parts = {};
};

// RMSNorm of the float residual stream, rounded once, to bf16. Pointers are to device memory.
void rms_norm_cuda(const Stream& stream, const DeviceNormArgs& args);

// The addition alone, to the same bits: float [rows, width].
void add_parts_cuda(const Stream& stream, float* to, std::int64_t rows, std::int64_t width,
                    const DeviceParts& parts);

}  // namespace buoy::ops

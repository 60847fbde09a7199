#pragma once

#include <cstdint>

#include "buoy/tensor/stream.h"

namespace buoy::ops {

struct DevicePredictionArgs {
  const float* logits;  // [rows, vocabulary]
  std::int64_t rows;
  std::int64_t vocabulary;
  const std::int32_t* held;  // [rows], kMostProbable for none
  std::int64_t top;
  float* values;         // [rows, 3]: confidence, entropy, margin
  std::int32_t* tokens;  // [rows, top]
  float* probabilities;  // [rows, top]
};

// predict_row() for rows that lie on the device, as all pointers do. In double, in another order of summing.
void predict_cuda(const Stream& stream, const DevicePredictionArgs& args);

}  // namespace buoy::ops

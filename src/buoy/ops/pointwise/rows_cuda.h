#pragma once

#include <cstdint>

#include "buoy/tensor/stream.h"

// Chosen rows of a matrix on the device. All pointers are to device memory.
namespace buoy::ops {

struct DeviceGatherArgs {
  const float* input;           // [any rows, width]; or
  const std::uint16_t* halves;  // the same in bf16, where `input` is null
  const std::int32_t* rows;     // [count]: which of them
  std::int64_t count;
  std::int64_t width;
  float* output;  // [count, width]
};
void gather_rows_cuda(const Stream& stream, const DeviceGatherArgs& args);

struct DeviceRowChangeArgs {
  float* states;             // [any rows, width]
  const std::int32_t* rows;  // [count], no row twice
  std::int64_t count;
  std::int64_t width;
  const float* values;  // [count, width], or [width] for all rows
  bool alike;           // the latter
  bool replace;         // else they are added
};
void change_rows_cuda(const Stream& stream, const DeviceRowChangeArgs& args);

}  // namespace buoy::ops

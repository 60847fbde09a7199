#pragma once

#include <cstdint>

#include "buoy/tensor/stream.h"

// Lengths of vectors of heads, and their cosines with the forward before. All pointers are to device memory.
namespace buoy::ops {

// bf16, rows `stride` numbers apart, heads side by side in them.
struct DeviceHeadStates {
  const std::uint16_t* states;
  std::int64_t stride;
  std::int64_t rows, heads, head_dim;
};

struct DeviceHeadNorms {
  DeviceHeadStates of;
  float* norms;              // of row 0 in head 0
  std::int64_t head_stride;  // from head to head
};
void head_norms_cuda(const Stream& stream, const DeviceHeadNorms& args);

// As HeadDrift.
struct DeviceHeadDrift {
  DeviceHeadStates now;
  std::uint16_t* before;  // [rows, heads, head_dim] bf16
  std::int64_t before_rows;
  float* cosines;            // of row 0 in head 0
  std::int64_t head_stride;  // from head to head
};
void head_drift_cuda(const Stream& stream, const DeviceHeadDrift& args);

}  // namespace buoy::ops

// output = input weight^T of a few rows on Hopper, where reading the weights is all there is to do.

#pragma once

#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/tensor/device_memory.h"

namespace buoy::ops {

inline constexpr std::int64_t kMostFewRows = 64;

// Sums of tiles that several thread blocks share, and how many of them have come. One for every stream.
class FewRowsScratch {
 public:
  struct Place {
    float* sums;
    std::int32_t* come;  // zero between products
  };
  // The first call allocates, so it cannot be captured into a graph.
  Place place(const Stream& stream);

 private:
  DeviceMemory memory_;
};

// Whether the shape, the GPU and the kind of output allow it.
bool few_rows_can_multiply(const DeviceLinearArgs& args);
void multiply_few_rows(const Stream& stream, const DeviceLinearArgs& args, FewRowsScratch& scratch);

}  // namespace buoy::ops

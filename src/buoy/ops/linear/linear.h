#pragma once

#include <cstdint>

#include "buoy/tensor/buffer.h"
#include "buoy/tensor/context.h"
#include "buoy/tensor/weight.h"

namespace buoy::ops {

struct LinearArgs {
  const float* input;  // [rows, inputs]
  std::int64_t rows;
  const Weight* weight;  // [outputs, inputs], any stored type
  const float* bias;     // [outputs] or null
  float* output;         // [rows, outputs]
};

// Room that a loop of linear calls keeps between calls.
struct LinearScratch {
  Buffer<float> input_panels;
  Buffer<float> thread_panels;
};

// output = input weight^T + bias. Row r of the output depends on row r of the input alone, to the bit:
// other rows, their number and the number of threads change nothing.
void linear(const Context& context, const LinearArgs& args, LinearScratch& scratch);

// In double, plain loops.
void linear_reference(const LinearArgs& args, double* output);

}  // namespace buoy::ops

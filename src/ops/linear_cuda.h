#pragma once

#include <cstdint>
#include <memory>

#include "tensor/stream.h"

namespace buoy::ops {

// bf16 numbers travel as std::uint16_t outside of .cu files. All pointers are to device memory.
enum class LinearOutput {
  kBf16,
  kFloat,
  kAddFloat,  // the product is added to what `output` holds, in float: a residual addition for free
};

struct DeviceLinearArgs {
  const std::uint16_t* input;  // [rows, inputs]
  std::int64_t rows;
  const std::uint16_t* weight;  // [outputs, inputs]
  std::int64_t inputs;
  std::int64_t outputs;
  void* output;  // [rows, outputs]
  LinearOutput kind;
};

// Matrix products through cuBLASLt with float32 sums. Plans are made once per shape and kept. One object
// serves one stream: its products share a workspace.
class DeviceLinear {
 public:
  // With `timed_candidates` above 1 that many of the library's proposals are timed at a shape's first use and
  // the fastest is kept. Off by default: which one wins may differ from run to run, and its rounding with it.
  explicit DeviceLinear(int timed_candidates = 0);
  ~DeviceLinear();
  DeviceLinear(DeviceLinear&&) noexcept;
  DeviceLinear& operator=(DeviceLinear&&) noexcept;

  // Makes the plan of this shape, so that multiply() can be captured into a graph.
  void prepare(const Stream& stream, const DeviceLinearArgs& args);
  // output = input weight^T.
  void multiply(const Stream& stream, const DeviceLinearArgs& args);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace buoy::ops

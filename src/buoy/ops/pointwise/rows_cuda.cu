#include "buoy/base/error.h"
#include "buoy/ops/pointwise/rows_cuda.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 256;

// One block per row in both.
__global__ void gather_rows_kernel(DeviceGatherArgs args) {
  const std::int64_t from = args.rows[blockIdx.x] * args.width, to = blockIdx.x * args.width;
  for (std::int64_t i = threadIdx.x; i < args.width; i += kThreads) {
    args.output[to + i] = args.input != nullptr
                              ? args.input[from + i]
                              : __uint_as_float(static_cast<std::uint32_t>(args.halves[from + i]) << 16);
  }
}

__global__ void change_rows_kernel(DeviceRowChangeArgs args) {
  float* state = args.states + args.rows[blockIdx.x] * args.width;
  const float* values = args.values + (args.alike ? 0 : blockIdx.x * args.width);
  for (std::int64_t i = threadIdx.x; i < args.width; i += kThreads)
    state[i] = args.replace ? values[i] : state[i] + values[i];
}

}  // namespace

void gather_rows_cuda(const Stream& stream, const DeviceGatherArgs& args) {
  if (args.count == 0) return;
  gather_rows_kernel<<<static_cast<unsigned>(args.count), kThreads, 0,
                       static_cast<cudaStream_t>(stream.handle())>>>(args);
  check_launch("gather_rows");
}

void change_rows_cuda(const Stream& stream, const DeviceRowChangeArgs& args) {
  if (args.count == 0) return;
  change_rows_kernel<<<static_cast<unsigned>(args.count), kThreads, 0,
                       static_cast<cudaStream_t>(stream.handle())>>>(args);
  check_launch("change_rows");
}

}  // namespace buoy::ops

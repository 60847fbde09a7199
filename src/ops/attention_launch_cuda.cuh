// Small kernels one after the other: each may be set up while the one before it is still running (Hopper),
// and waits for it only where it needs its results.

#pragma once

#include "tensor/cuda_check.cuh"
#include "tensor/stream.h"

namespace buoy::ops {

// From here on the next kernel of the stream may be set up.
__device__ inline void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

// Returns when the kernel before this one is finished and what it wrote can be read.
__device__ inline void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\n" ::: "memory");
#endif
}

struct LaunchShape {
  dim3 grid, block;
  int shared_bytes = 0;
  bool early = false;  // the kernel calls wait_for_previous(), and the GPU is a Hopper or later
};

template <typename... Parameters, typename... Arguments>
void launch_kernel(const LaunchShape& shape, const Stream& stream, const char* name,
                   void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (shape.shared_bytes > 48 * 1024) {
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shape.shared_bytes),
               name);
  }
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = static_cast<size_t>(shape.shared_bytes);
  config.stream = static_cast<cudaStream_t>(stream.handle());
  config.attrs = &early;
  config.numAttrs = shape.early ? 1 : 0;
  cuda_check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), name);
}

}  // namespace buoy::ops

// Programmatic dependent launch (Hopper): a kernel may be set up while the one before it is still running,
// and waits for it only where it needs its results (griddepcontrol).

#pragma once

#include <utility>

#include "buoy/tensor/cuda_check.cuh"
#include "buoy/tensor/stream.h"

namespace buoy::ops {

// From here on the next kernel of the stream may be set up.
__device__ inline void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

// Returns when the kernel before this one is finished and what it wrote can be read. Every kernel that is
// launched early calls this in some block before it ends, even where it reads nothing: so whoever has waited
// for one kernel has waited for all before it.
__device__ inline void wait_for_prior_grid() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\n" ::: "memory");
#endif
}

// Threads that fit on a multiprocessor at once.
#if defined(__CUDA_ARCH__) && ((__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1200)
inline constexpr int kMostThreads = 1536;
#else
inline constexpr int kMostThreads = 2048;
#endif

struct GpuKind {
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
};

// The current device.
inline const GpuKind& gpu() {
  static const GpuKind found = [] {
    GpuKind kind;
    int device = 0;
    cuda_check(cudaGetDevice(&device), "ask for the current device");
    for (const auto& [attribute, value] : {std::pair{cudaDevAttrComputeCapabilityMajor, &kind.major},
                                           {cudaDevAttrComputeCapabilityMinor, &kind.minor},
                                           {cudaDevAttrMultiProcessorCount, &kind.multiprocessors}})
      cuda_check(cudaDeviceGetAttribute(value, attribute, device), "read the device's kind");
    return kind;
  }();
  return found;
}

struct LaunchShape {
  dim3 grid, block;
  int shared_bytes = 0;
  unsigned cluster = 1;  // blocks side by side that form one
  bool early = false;    // the kernel calls wait_for_prior_grid(), and the GPU is a Hopper or later
};

template <typename... Parameters, typename... Arguments>
void launch_kernel(const LaunchShape& shape, const Stream& stream, const char* name,
                   void (*kernel)(Parameters...), const Arguments&... arguments) {
  if (shape.shared_bytes > 48 * 1024) {
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shape.shared_bytes),
               name);
  }
  cudaLaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (shape.early) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {shape.cluster, 1, 1};
  }
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = static_cast<size_t>(shape.shared_bytes);
  config.stream = static_cast<cudaStream_t>(stream.handle());
  config.attrs = attributes;
  config.numAttrs = count;
  cuda_check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), name);
}

}  // namespace buoy::ops

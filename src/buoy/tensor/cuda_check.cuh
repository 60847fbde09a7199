#pragma once

#include <cuda_runtime.h>

#include <string>

#include "buoy/base/error.h"

namespace buoy {

inline void cuda_check(cudaError_t status, const char* action) {
  if (status != cudaSuccess)
    throw IoError(std::string("GPU: cannot ") + action + ": " + cudaGetErrorString(status));
}

// After a kernel launch; what goes wrong while it runs shows at the next synchronisation.
inline void check_launch(const char* kernel) {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess)
    throw IoError(std::string("GPU: cannot launch ") + kernel + ": " + cudaGetErrorString(status));
}

}  // namespace buoy

#pragma once

#include <cuda_runtime.h>

namespace buoy::ops {

// silu(gate) * up.
__device__ inline float silu_times(float gate, float up) {
  return __fdividef(gate, 1.0f + __expf(-gate)) * up;
}

}  // namespace buoy::ops

#pragma once

#include <cuda_runtime.h>

namespace buoy::ops {

// silu(gate) * up. Numbers below 2^-126 count as zero on the way, so silu of gates below -87.3 is zero. The
// library's functions would scale every number to tell them apart.
__device__ inline float silu_times(float gate, float up) {
  constexpr float kLog2E = 1.4426950408889634f;
  float power, share;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(power) : "f"(-kLog2E * gate));
  asm("rcp.approx.ftz.f32 %0, %1;\n" : "=f"(share) : "f"(1.0f + power));
  return gate * share * up;
}

}  // namespace buoy::ops

#pragma once

#include <cstdint>
#include <span>

#include "ops/attention_cuda.h"

namespace buoy::ops {

// As QkMoments, packed as the plan says. Values are looked at for value_norm alone.
struct CudaQkMoments {
  CudaAttentionInputs inputs;             // bias and scale do not matter here
  const std::uint8_t* use_row = nullptr;  // [rows], non-zero for queries to take; null: all

  float* dot = nullptr;           // [heads, columns]
  float* cosine = nullptr;        // [heads, columns]
  float* norm_product = nullptr;  // [heads, columns]
  float* self_dot = nullptr;      // [heads, columns]
  float* query_norm = nullptr;    // [heads, rows]
  float* key_norm = nullptr;      // [kv_heads, columns]
  float* value_norm = nullptr;    // [kv_heads, columns]
};

// One or two sets at once, as before and after the rotation: small kernels are cheaper together.
void qk_moments_cuda(AttentionPlan& plan, std::span<const CudaQkMoments> sets, const Stream& stream);

}  // namespace buoy::ops

#pragma once

#include <cstdint>

#include "buoy/ops/attention/attention_cuda.h"
#include "buoy/ops/pointwise/rope_cuda.h"

namespace buoy::ops {

// Each [heads, columns]; null members are not wanted.
struct DeviceQkColumns {
  float* dot = nullptr;
  float* cosine = nullptr;
  float* norm_product = nullptr;
  float* self_dot = nullptr;
};

// As QkMoments, packed as the plan says. Values are looked at for value_norm alone.
struct DeviceQkMoments {
  DeviceAttentionInputs inputs;           // bias and scale do not matter here
  const std::uint8_t* use_row = nullptr;  // [rows], non-zero for queries to take; null: all

  DeviceQkColumns after;        // of queries and keys as they are
  DeviceQkColumns before;       // of the same turned back by the angles of their positions
  DeviceRopeTable rope{};       // those angles, of all positions of the batch; for `before` alone
  float* query_norm = nullptr;  // [heads, rows]
  float* key_norm = nullptr;    // [kv_heads, columns]
  float* value_norm = nullptr;  // [kv_heads, columns]
};

void qk_moments_cuda(AttentionPlan& plan, const DeviceQkMoments& wanted, const Stream& stream);

}  // namespace buoy::ops

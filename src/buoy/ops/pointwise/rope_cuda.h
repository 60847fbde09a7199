#pragma once

#include <cstdint>

#include "buoy/tensor/stream.h"

// All pointers are to device memory; bf16 numbers travel as std::uint16_t.
namespace buoy::ops {

// Angles as in RopeTable.
struct DeviceRopeTable {
  const float* cosines;  // [positions, pairs]
  const float* sines;    // [positions, pairs]
  std::int64_t pairs;
  // As RotaryScales; null: no factors. Rotations do not hold them, so that states can be turned back.
  const float* query_scales = nullptr;  // [positions]
  float key_scale = 1.0f;
};

// Queries, keys and values of a batch: the heads of a row side by side, rows a stride apart.
struct QkvPlaces {
  std::uint16_t *queries, *keys, *values;
  std::int64_t query_stride, key_stride;  // values: as keys
};
// A row holds all three.
inline QkvPlaces qkv_in_one_row(std::uint16_t* first, std::int64_t query_width, std::int64_t key_width) {
  const std::int64_t stride = query_width + 2 * key_width;
  return {first, first + query_width, first + query_width + key_width, stride, stride};
}
// All rows of queries, then all of keys, then all of values.
inline QkvPlaces qkv_apart(std::uint16_t* first, std::int64_t rows, std::int64_t query_width,
                           std::int64_t key_width) {
  return {first, first + rows * query_width, first + rows * (query_width + key_width), query_width,
          key_width};
}

// Everything between the joint projection and the attention, in one reading: bias, norm of each head of q and
// k, rotation, and the rows a key/value cache keeps. No kernel right before writes anything of this but the
// states.
struct DeviceQkvArgs {
  QkvPlaces states;  // in place
  std::int64_t rows;
  std::int64_t heads, kv_heads, head_dim;
  DeviceRopeTable rope;
  const std::int32_t* positions;      // [rows]
  const float* bias = nullptr;        // [(heads + 2 kv_heads) * head_dim]
  const float* query_norm = nullptr;  // [head_dim]
  const float* key_norm = nullptr;    // [head_dim]
  double eps = 0;
  const std::int32_t* cache_rows = nullptr;  // [rows]: where each row's key and value go in the two below
  std::uint16_t* cached_keys = nullptr;      // [any rows, kv_heads * head_dim]
  std::uint16_t* cached_values = nullptr;    // [any rows, kv_heads * head_dim]
  std::int32_t* flag = nullptr;  // lowered to `code` when a query or a key is a NaN or an infinity
  std::int32_t code = 0;
};
void finish_qkv_cuda(const Stream& stream, const DeviceQkvArgs& args);

}  // namespace buoy::ops

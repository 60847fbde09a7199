#pragma once

#include <cstdint>

#include "tensor/stream.h"

// All pointers are to device memory; bf16 numbers travel as std::uint16_t.
namespace buoy::ops {

// Angles as in RopeTable.
struct DeviceRopeTable {
  const float* cosines;  // [positions, pairs]
  const float* sines;    // [positions, pairs]
  std::int64_t pairs;
};

// Everything between the joint projection and the attention, in one reading: bias, norm of each head of q and
// k, rotation, and the rows a key/value cache keeps.
struct DeviceQkvArgs {
  std::uint16_t* qkv;  // [rows, (heads + 2 kv_heads) * head_dim], in place
  std::int64_t rows;
  std::int64_t heads, kv_heads, head_dim;
  DeviceRopeTable rope;
  const std::int32_t* positions;      // [rows]
  const float* bias = nullptr;        // [(heads + 2 kv_heads) * head_dim]
  const float* query_norm = nullptr;  // [head_dim]
  const float* key_norm = nullptr;    // [head_dim]
  double eps = 0;
  std::uint16_t* unrotated = nullptr;  // [rows, (heads + kv_heads) * head_dim]: q and k before the rotation
  const std::int32_t* cache_rows = nullptr;  // [rows]: where each row's key and value go in the two below
  std::uint16_t* cached_keys = nullptr;      // [any rows, kv_heads * head_dim]
  std::uint16_t* cached_values = nullptr;    // [any rows, kv_heads * head_dim]
  std::int32_t* flag = nullptr;  // lowered to `code` when a query or a key is a NaN or an infinity
  std::int32_t code = 0;
};
void finish_qkv_cuda(const Stream& stream, const DeviceQkvArgs& args);

// Rotated keys turned back; row r stands at position first_position + r.
struct DeviceUnrotateArgs {
  const std::uint16_t* rotated;  // [rows, kv_heads, head_dim]
  std::int64_t rows;
  std::int64_t first_position;
  std::int64_t kv_heads, head_dim;
  DeviceRopeTable rope;
  std::uint16_t* output;  // [rows, kv_heads, head_dim]
};
void unrotate_cuda(const Stream& stream, const DeviceUnrotateArgs& args);

}  // namespace buoy::ops

#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>

namespace buoy::ops {

// A bf16 tensor in device memory, columns side by side, and the box of it that one copy brings.
struct TensorBox {
  const void* data;
  std::array<std::uint64_t, 3> sizes;    // columns, heads, rows
  std::array<std::uint64_t, 2> strides;  // bytes between heads, between rows
  std::array<std::uint32_t, 3> box;
};

// For copies into swizzled panels of 64 columns; what lies outside comes as zeros.
CUtensorMap tensor_map(const TensorBox& tensor);

// Boxes of 64 columns of one head by `box_rows` rows.
CUtensorMap rows_map(const void* data, std::int64_t head_dim, std::int64_t heads, std::int64_t rows,
                     std::int64_t stride, std::uint32_t box_rows);

// A matrix of bf16 or float numbers, its rows side by side, in boxes of `panel_bytes` (64 or 128; floats:
// 128) by `box_rows` rows.
CUtensorMap matrix_map(const std::uint16_t* data, std::int64_t columns, std::int64_t rows,
                       std::uint32_t box_rows, int panel_bytes = 128);
CUtensorMap matrix_map(const float* data, std::int64_t columns, std::int64_t rows, std::uint32_t box_rows);

}  // namespace buoy::ops

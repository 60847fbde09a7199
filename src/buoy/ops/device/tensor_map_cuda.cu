#include "buoy/ops/device/tensor_map_cuda.cuh"

#include <span>
#include <string>

#include "buoy/base/error.h"
#include "buoy/tensor/cuda_check.cuh"

namespace buoy::ops {
namespace {

// The one driver function needed is found at run time, so that nothing links the driver's library.
decltype(&cuTensorMapEncodeTiled) encoder() {
  static const auto function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    cuda_check(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result),
        "find cuTensorMapEncodeTiled in the driver");
    if (result != cudaDriverEntryPointSuccess || found == nullptr)
      throw IoError("GPU: the driver has no cuTensorMapEncodeTiled; expected CUDA 12 or later");
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  }();
  return function;
}

// Boxes are swizzled panels with rows of at most 128 bytes.
CUtensorMap encoded(CUtensorMapDataType type, const void* data, std::span<const cuuint64_t> sizes,
                    std::span<const cuuint64_t> strides, std::span<const cuuint32_t> box,
                    std::size_t panel_bytes = 128) {
  CUtensorMap map{};
  const std::array<cuuint32_t, 3> every{1, 1, 1};
  const CUresult status =
      encoder()(&map, type, static_cast<cuuint32_t>(sizes.size()), const_cast<void*>(data), sizes.data(),
                strides.data(), box.data(), every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                panel_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw IoError("GPU: cannot describe a tensor to the copy engine: error " + std::to_string(status));
  return map;
}

CUtensorMap matrix(CUtensorMapDataType type, const void* data, std::size_t item, std::int64_t columns,
                   std::int64_t rows, std::uint32_t box_rows, std::size_t panel_bytes) {
  const std::array<cuuint64_t, 2> sizes{static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const std::array<cuuint64_t, 1> strides{sizes[0] * item};
  const std::array<cuuint32_t, 2> box{static_cast<cuuint32_t>(panel_bytes / item), box_rows};
  return encoded(type, data, sizes, strides, box, panel_bytes);
}

}  // namespace

CUtensorMap tensor_map(const TensorBox& tensor) {
  const std::array<cuuint64_t, 3> sizes{tensor.sizes[0], tensor.sizes[1], tensor.sizes[2]};
  const std::array<cuuint64_t, 2> strides{tensor.strides[0], tensor.strides[1]};
  return encoded(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, tensor.data, sizes, strides, tensor.box);
}

CUtensorMap matrix_map(const std::uint16_t* data, std::int64_t columns, std::int64_t rows,
                       std::uint32_t box_rows, int panel_bytes) {
  BUOY_CHECK(panel_bytes == 64 || panel_bytes == 128);
  return matrix(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, data, sizeof *data, columns, rows, box_rows,
                static_cast<std::size_t>(panel_bytes));
}
CUtensorMap matrix_map(const float* data, std::int64_t columns, std::int64_t rows, std::uint32_t box_rows) {
  return matrix(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, data, sizeof *data, columns, rows, box_rows, 128);
}

CUtensorMap rows_map(const void* data, std::int64_t head_dim, std::int64_t heads, std::int64_t rows,
                     std::int64_t stride, std::uint32_t box_rows) {
  const auto dim = static_cast<std::uint64_t>(head_dim);
  return tensor_map({data,
                     {dim, static_cast<std::uint64_t>(heads), static_cast<std::uint64_t>(rows)},
                     {2 * dim, 2 * static_cast<std::uint64_t>(stride)},
                     {64, 1, box_rows}});
}

}  // namespace buoy::ops

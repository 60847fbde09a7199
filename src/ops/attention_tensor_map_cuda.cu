#include "ops/attention_tensor_map_cuda.cuh"

#include <string>

#include "tensor/cuda_check.cuh"

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

}  // namespace

CUtensorMap tensor_map(const TensorBox& tensor) {
  CUtensorMap map{};
  const std::array<cuuint64_t, 3> sizes{tensor.sizes[0], tensor.sizes[1], tensor.sizes[2]};
  const std::array<cuuint64_t, 2> strides{tensor.strides[0], tensor.strides[1]};
  const std::array<cuuint32_t, 3> every{1, 1, 1};
  const CUresult status = encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, const_cast<void*>(tensor.data),
                                    sizes.data(), strides.data(), tensor.box.data(), every.data(),
                                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                    CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw IoError("GPU: cannot describe a tensor to the copy engine: error " + std::to_string(status));
  return map;
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

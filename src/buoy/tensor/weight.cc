#include "buoy/tensor/weight.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "buoy/base/error.h"
#include "buoy/tensor/float16_spans.h"

namespace buoy {
namespace {

// Checkpoints give no alignment promise past the byte, so load through memcpy.
template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

std::int64_t Weight::size() const {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  return count;
}

Weight rows_of(const Weight& matrix, std::int64_t first, std::int64_t count) {
  BUOY_CHECK(matrix.shape.size() == 2 && first >= 0 && count >= 0 && first + count <= matrix.rows());
  const auto offset = static_cast<size_t>(first * matrix.columns()) * size_of(matrix.dtype);
  return {matrix.data + offset, matrix.dtype, {count, matrix.columns()}};
}

Weight matrix_of(const Weight& stacked, std::int64_t number) {
  BUOY_CHECK(stacked.shape.size() == 3 && number >= 0 && number < stacked.shape[0]);
  const std::int64_t rows = stacked.shape[1], columns = stacked.shape[2];
  const auto offset = static_cast<size_t>(number * rows * columns) * size_of(stacked.dtype);
  return {stacked.data + offset, stacked.dtype, {rows, columns}};
}

std::string describe_shape(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void to_float(const Weight& weight, std::int64_t first, std::int64_t count, float* out) {
  BUOY_CHECK(first >= 0 && count >= 0 && first + count <= weight.size());
  const std::byte* from = weight.data + static_cast<size_t>(first) * size_of(weight.dtype);
  switch (weight.dtype) {
    case DType::kF32:
      std::memcpy(out, from, static_cast<size_t>(count) * 4);
      break;
    case DType::kBF16:
      for (std::int64_t i = 0; i < count; ++i) out[i] = bf16_to_float(load<std::uint16_t>(from + 2 * i));
      break;
    case DType::kF16:
      f16_to_floats({from, static_cast<size_t>(count) * 2}, {out, static_cast<size_t>(count)});
      break;
  }
}

}  // namespace buoy

#include "buoy/trace/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/tensor/float16_spans.h"

namespace buoy::trace {
namespace {

static_assert(std::endian::native == std::endian::little, "sample files hold little-endian numbers");

template <typename T>
Array make_array(std::string_view name, DataType dtype, std::vector<std::int64_t> shape,
                 std::span<const T> values) {
  if (element_count(name, shape) != static_cast<std::int64_t>(values.size())) {
    throw_usage_error({fmt::format("array {}", name), "values to fill " + describe_shape(shape),
                       fmt::format("{} values", values.size())});
  }
  Array array{std::string(name), dtype, std::move(shape), {}};
  const auto bytes = std::as_bytes(values);
  array.bytes.assign(bytes.begin(), bytes.end());
  return array;
}

}  // namespace

std::string_view name_of(DataType dtype) {
  switch (dtype) {
    case DataType::kF32:
      return "F32";
    case DataType::kF16:
      return "F16";
    case DataType::kI32:
      return "I32";
    case DataType::kU8:
      return "U8";
  }
  return "?";
}

size_t size_of(DataType dtype) {
  return dtype == DataType::kU8 ? 1 : dtype == DataType::kF16 ? 2 : 4;
}

Array float_array(std::string_view name, std::vector<std::int64_t> shape, std::span<const float> values) {
  return make_array(name, DataType::kF32, std::move(shape), values);
}

Array integer_array(std::string_view name, std::vector<std::int64_t> shape,
                    std::span<const std::int32_t> values) {
  return make_array(name, DataType::kI32, std::move(shape), values);
}

Array byte_array(std::string_view name, std::vector<std::int64_t> shape,
                 std::span<const std::uint8_t> values) {
  return make_array(name, DataType::kU8, std::move(shape), values);
}

std::span<const float> floats_of(const Array& array) {
  BUOY_CHECK(array.dtype == DataType::kF32);
  return {reinterpret_cast<const float*>(array.bytes.data()), array.bytes.size() / sizeof(float)};
}

bool exceeds_f16(const Array& array) {
  std::array<std::uint16_t, 4096> halves;
  for (auto rest = floats_of(array); !rest.empty();) {
    const auto part = rest.first(std::min(halves.size(), rest.size()));
    if (floats_to_f16(part, std::span(halves).first(part.size()))) return true;
    rest = rest.subspan(part.size());
  }
  return false;
}

Array to_f16(const Array& array) {
  const auto floats = floats_of(array);
  Array half{array.name, DataType::kF16, array.shape, std::vector<std::byte>(floats.size() * 2)};
  floats_to_f16(floats, {reinterpret_cast<std::uint16_t*>(half.bytes.data()), floats.size()});
  return half;
}

std::int64_t element_count(std::string_view name, std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) {
      throw_usage_error({fmt::format("array {}", name), "sizes of at least 0 and less than 2^63 elements",
                         "shape " + describe_shape(shape)});
    }
  }
  return count;
}

std::string describe_shape(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace buoy::trace

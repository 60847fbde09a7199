#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buoy::trace {

enum class DataType { kF32, kF16, kI32, kU8 };

std::string_view name_of(DataType dtype);  // as safetensors spells it
size_t size_of(DataType dtype);

// One named array on its way into a sample file.
struct Array {
  std::string name;
  DataType dtype = DataType::kF32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  // little-endian, row-major
};

// Each throws UsageError when the shape does not hold exactly the values.
Array float_array(std::string_view name, std::vector<std::int64_t> shape, std::span<const float> values);
Array integer_array(std::string_view name, std::vector<std::int64_t> shape,
                    std::span<const std::int32_t> values);
Array byte_array(std::string_view name, std::vector<std::int64_t> shape,
                 std::span<const std::uint8_t> values);

std::span<const float> floats_of(const Array& array);  // of an F32 array

// Whether a finite value of this F32 array lies past the largest F16.
bool exceeds_f16(const Array& array);

// An F32 array in half the space: values of at least 2^-14 within 2^-11 of themselves, smaller ones within
// 2^-25. Infinities and NaN stay.
Array to_f16(const Array& array);

// Elements of a shape. Throws UsageError for negative sizes and for 2^63 elements or more.
std::int64_t element_count(std::string_view name, std::span<const std::int64_t> shape);

std::string describe_shape(std::span<const std::int64_t> shape);  // "[2, 3]"

}  // namespace buoy::trace

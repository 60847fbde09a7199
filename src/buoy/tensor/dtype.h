#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "buoy/base/float16.h"

namespace buoy {

// Number types a weight may be stored in.
enum class DType { kF32, kF16, kBF16 };

constexpr size_t size_of(DType dtype) {
  return dtype == DType::kF32 ? 4 : 2;
}

constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBF16:
      return "BF16";
  }
  return "?";
}

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Round to nearest, ties to even; a NaN stays a NaN.
inline std::uint16_t float_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

}  // namespace buoy

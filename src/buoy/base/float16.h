#pragma once

#include <cstdint>

namespace buoy {

inline constexpr float kLargestF16 = 65504.0f;

float f16_to_float(std::uint16_t bits);

// Round to nearest, ties to even; past the largest value infinity; a NaN stays a NaN.
std::uint16_t float_to_f16(float value);

}  // namespace buoy

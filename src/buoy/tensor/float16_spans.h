#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace buoy {

// Many numbers at a time, with the processor's vectors. Bit for bit what float_to_f16 and f16_to_float of
// base/float16.h give.

// `to` has as many elements as `from`. True when a finite value lies past kLargestF16: the result does not
// stand for it.
bool floats_to_f16(std::span<const float> from, std::span<std::uint16_t> to);

// `from` holds two bytes for each element of `to`, aligned or not.
void f16_to_floats(std::span<const std::byte> from, std::span<float> to);

}  // namespace buoy

#pragma once

#include <string_view>

namespace buoy::trace {

// What the floating-point arrays of a trace are stored in.
enum class Storage { kF32, kF16 };

std::string_view name_of(Storage storage);

}  // namespace buoy::trace

#pragma once

#include <string_view>

namespace buoy::schema {

inline constexpr std::string_view kBlockLengthMeaning = "positions of a block while it is denoised";

}  // namespace buoy::schema

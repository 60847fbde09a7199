#pragma once

#include <cstdint>
#include <string_view>

namespace buoy::trace {

inline constexpr std::string_view kFormatName = "buoy-trace";
inline constexpr std::string_view kSampleFormatName = "buoy-trace-sample";

// Rises when a reader that knows the old number would misread the new files; docs/trace-format.md says
// what may change without.
inline constexpr std::int64_t kFormatVersion = 2;

}  // namespace buoy::trace

#pragma once

#include <cstdint>
#include <string_view>

namespace buoy::trace {

inline constexpr std::string_view kFormatName = "buoy-trace";
inline constexpr std::string_view kSampleFormatName = "buoy-trace-sample";

// Rises when a reader that knows the old number would misread the new files; docs/trace-format.md says
// what may change without.
inline constexpr std::int64_t kNewestVersion = 3;
// That of traces that keep the observed arrays (level.h): they have not changed since.
inline constexpr std::int64_t kFullVersion = 2;

}  // namespace buoy::trace

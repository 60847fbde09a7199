#pragma once

#include <cstdint>
#include <functional>

namespace buoy::benchmark {

// The most memory the process held during the call beyond what it held before, in bytes (Linux: VmHWM, reset
// before the call).
std::uint64_t peak_extra_bytes(const std::function<void()>& call);

// What the process holds beside mapped files.
std::uint64_t held_bytes();

}  // namespace buoy::benchmark

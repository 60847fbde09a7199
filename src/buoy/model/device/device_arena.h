#pragma once

#include <cstddef>
#include <cstdint>

namespace buoy::model {

// Hands out aligned parts of one allocation; without memory it only counts, so that a layout is written once
// and used twice.
class DeviceArena {
 public:
  explicit DeviceArena(void* base) : base_(static_cast<std::byte*>(base)) {}

  template <typename T>
  T* take(std::int64_t count) {
    const std::size_t at = used_;
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return base_ != nullptr ? reinterpret_cast<T*>(base_ + at) : nullptr;
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

}  // namespace buoy::model

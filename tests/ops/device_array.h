#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/tensor/device_memory.h"
#include "buoy/tensor/dtype.h"

namespace buoy::testing {

// Host numbers on the GPU and back.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::span<const T> values) : count_(values.size()), memory_(values.size_bytes() + 1) {
    copy_to_device(stream_, memory_.data(), values.data(), values.size_bytes());
    stream_.synchronize();
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(std::span<const T>(values)) {}
  // Poisoned: what is not written shows.
  explicit DeviceArray(size_t count) : count_(count), memory_(count * sizeof(T) + 1) {
    fill_bytes(stream_, memory_.data(), 0xff, count * sizeof(T));
    stream_.synchronize();
  }

  T* data() const { return memory_.template as<T>(); }
  std::vector<T> host() const {
    std::vector<T> out(count_);
    copy_to_host(stream_, out.data(), memory_.data(), count_ * sizeof(T));
    stream_.synchronize();
    return out;
  }

 private:
  size_t count_;
  DeviceMemory memory_;
  Stream stream_;
};

inline std::vector<std::uint16_t> to_bf16(std::span<const float> values) {
  std::vector<std::uint16_t> out;
  for (const float value : values) out.push_back(float_to_bf16(value));
  return out;
}
inline std::vector<float> from_bf16(std::span<const std::uint16_t> values) {
  std::vector<float> out;
  for (const auto bits : values) out.push_back(bf16_to_float(bits));
  return out;
}
// What is left of the numbers in bf16.
inline std::vector<float> rounded(std::span<const float> values) {
  return from_bf16(to_bf16(values));
}

}  // namespace buoy::testing

#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "buoy/tensor/device_memory.h"

namespace buoy::python {

// Numbers that lie on the card, float32, rows without gaps. Other libraries take them by DLPack, without a
// copy; the memory is freed when the last of them lets go.
class DeviceArray {
 public:
  // A copy of numbers on the card that are there already: no kernel still writes them. IoError without room.
  DeviceArray(const float* on_device, std::vector<std::int64_t> shape);

  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory_->data()); }
  // A capsule "dltensor" that owns its share.
  pybind11::capsule dlpack() const;

 private:
  std::shared_ptr<const DeviceMemory> memory_;
  std::vector<std::int64_t> shape_;
};

}  // namespace buoy::python

#pragma once

#include <cstdint>
#include <string>

#include "buoy/tensor/device.h"

namespace buoy {

// The memory that models have where they run.
struct MachineMemory {
  std::string name;  // "main memory", or the device's
  std::uint64_t total = 0, free = 0;
};

// Of the first GPU, or of this machine as far as this process may use it (limits of containers count).
// Nothing known: zeros.
MachineMemory machine_memory(Device device);

}  // namespace buoy

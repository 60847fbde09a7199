#pragma once

#include <string>

#include "buoy/model/memory.h"
#include "buoy/tensor/machine_memory.h"

namespace buoy::study {

// "16.0 GiB of weights as BF16 on the device + 1.2 GiB at 1024 tokens; NVIDIA H200: 139 GiB, 120 GiB free"
// and, where it is so, that it does not fit.
std::string memory_line(const ModelConfig& config, const model::MemoryCase& of, const MachineMemory& machine);

}  // namespace buoy::study

#pragma once

#include <cstdint>

#include "buoy/checkpoint/config.h"
#include "buoy/tensor/device.h"
#include "buoy/tensor/machine_memory.h"

namespace buoy::model {

// Parameters that a config describes; no weights are read.
std::uint64_t parameters_of(const ModelConfig& config);
// Those that a token meets: of experts, the chosen ones alone.
std::uint64_t active_parameters_of(const ModelConfig& config);

// Bytes that a model needs to run.
struct MemoryNeed {
  std::uint64_t weights = 0;
  std::uint64_t work = 0;  // of a forward over so many tokens, all logits of the row included

  std::uint64_t all() const { return weights + work; }
};

struct MemoryCase {
  Device device = Device::kCpu;
  std::int64_t tokens = 1024;
  // Of the weights as they are stored, which is how a CPU uses them; 0: not known, taken for BF16. A GPU
  // holds BF16 whatever is stored.
  std::uint64_t stored_bytes = 0;
};
MemoryNeed memory_need(const ModelConfig& config, const MemoryCase& of);

// UsageError, with what is needed and what there is, unless a device has so much memory free: all weights lie
// on it, those of every expert, too.
void require_room(const ModelConfig& config, std::uint64_t weight_bytes, const MachineMemory& device);

}  // namespace buoy::model

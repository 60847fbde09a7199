#include "buoy/study/memory_line.h"

#include <fmt/format.h>

#include "buoy/base/progress.h"

namespace buoy::study {

std::string memory_line(const ModelConfig& config, const model::MemoryCase& of,
                        const MachineMemory& machine) {
  const auto need = model::memory_need(config, of);
  const char* stored = of.device == Device::kCuda ? "as BF16 on the device"
                       : of.stored_bytes > 0      ? "as stored"
                                                  : "taken for BF16";
  std::string out = fmt::format("{} of weights {} + {} at {} tokens", describe_bytes(need.weights), stored,
                                describe_bytes(need.work), of.tokens);
  if (machine.total == 0) return out;
  out += fmt::format("; {}: {}, {} free", machine.name, describe_bytes(machine.total),
                     describe_bytes(machine.free));
  if (need.all() > machine.total) {
    out += ": too little for this model";
  } else if (need.all() > machine.free) {
    out += ": too little is free now";
  }
  return out;
}

}  // namespace buoy::study

#include "buoy/tensor/machine_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace buoy {
namespace {

// "MemTotal:       24532196 kB", in bytes; 0 when there is no such line.
std::uint64_t meminfo(const std::string& field) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(field)) continue;
    const auto digit = std::find_if(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
    std::uint64_t kilobytes = 0;
    std::from_chars(line.data() + (digit - line.begin()), line.data() + line.size(), kilobytes);
    return kilobytes * 1024;
  }
  return 0;
}

// A number of the process's control group (version 2); 0 for none or "max".
std::uint64_t group_bytes(const char* name) {
  std::ifstream file(std::string("/sys/fs/cgroup/") + name);
  std::uint64_t bytes = 0;
  return file >> bytes ? bytes : 0;
}

}  // namespace

MachineMemory machine_memory(Device device) {
  if (device == Device::kCuda) {
    const auto gpus = usable_devices();
    return gpus.empty() ? MachineMemory{}
                        : MachineMemory{gpus[0].name, gpus[0].memory_bytes, gpus[0].free_bytes};
  }
  MachineMemory out{"main memory", meminfo("MemTotal:"), meminfo("MemAvailable:")};
  const std::uint64_t limit = group_bytes("memory.max"), used = group_bytes("memory.current");
  if (limit > 0 && limit < out.total) {
    out.total = limit;
    out.free = std::min(out.free, limit > used ? limit - used : 0);
  }
  return out;
}

}  // namespace buoy

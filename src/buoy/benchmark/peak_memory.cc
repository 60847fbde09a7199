#include "buoy/benchmark/peak_memory.h"

#include <malloc.h>

#include <fstream>
#include <string>

namespace buoy::benchmark {
namespace {

std::uint64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stoull(line.substr(field.size())) * 1024;
  }
  return 0;
}

}  // namespace

std::uint64_t peak_extra_bytes(const std::function<void()>& call) {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5\n";
  const std::uint64_t before = status_bytes("VmRSS:");
  call();
  const std::uint64_t peak = status_bytes("VmHWM:");
  return peak > before ? peak - before : 0;
}

std::uint64_t held_bytes() {
  return status_bytes("RssAnon:");
}

}  // namespace buoy::benchmark

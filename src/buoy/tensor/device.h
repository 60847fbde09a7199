#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace buoy {

struct DeviceInfo {
  std::string name;
  std::uint64_t memory_bytes = 0;
  std::uint64_t free_bytes = 0;
  int major = 0, minor = 0;     // compute capability
  std::string runtime, driver;  // versions of CUDA: this build's, and the newest the driver knows
};

// Whether the backend has kernels for it: tensor cores with bfloat16, as from Ampere on.
bool can_run_models(const DeviceInfo& device);

// Where a model runs.
enum class Device { kCpu, kCuda };

// "cpu", "cuda" (refused where there is none that can run models) or "auto" (cuda where there is one).
Device device_from_name(const std::string& name);

bool has_device_backend();  // was built with it

// The NVIDIA GPUs this process can use. A build without the CUDA backend links a stub that throws
// UsageError, so callers carry no #ifdef.
std::vector<DeviceInfo> usable_devices();

}  // namespace buoy

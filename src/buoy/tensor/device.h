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

// "cpu", "cuda" (refused where there is none that can run models), "cuda:K" (its K-th, from 0) or "auto"
// (cuda where there is one).
Device device_from_name(const std::string& name);

// Cards by the names that CUDA_VISIBLE_DEVICES has for them; "0", "1", ... where it is not set. Nothing is
// initialised.
std::vector<std::string> visible_cards();
// The same from the value of the variable, null where there is none, and the number of cards of the machine.
std::vector<std::string> visible_cards(const char* variable, int cards);
// From here on this process sees one card alone: the `number`-th visible one, modulo their number. To be
// called before a device is used; content where there is none.
void choose_card(int number);

bool has_device_backend();  // was built with it

// The NVIDIA GPUs this process can use. A build without the CUDA backend links a stub that throws
// UsageError, so callers carry no #ifdef.
std::vector<DeviceInfo> usable_devices();

}  // namespace buoy

#include "tensor/device.h"

#include "base/error.h"

namespace buoy {

Device device_from_name(const std::string& name) {
  if (name == "cpu") return Device::kCpu;
  if (name == "auto") return has_cuda_backend() && !cuda_devices().empty() ? Device::kCuda : Device::kCpu;
  if (name != "cuda") throw_usage_error({"--device", "cpu, cuda or auto", '"' + name + '"'});
  if (cuda_devices().empty())
    throw_usage_error({"--device cuda", "an NVIDIA GPU this process can use", "none"});
  return Device::kCuda;
}

}  // namespace buoy

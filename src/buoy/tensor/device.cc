#include "buoy/tensor/device.h"

#include <fmt/format.h>

#include "buoy/base/error.h"

namespace buoy {

bool can_run_models(const DeviceInfo& device) {
  return device.major >= 8;
}

Device device_from_name(const std::string& name) {
  if (name == "cpu") return Device::kCpu;
  if (name != "cuda" && name != "auto")
    throw_usage_error({"`device`", "cpu, cuda or auto", '"' + name + '"'});
  const bool must = name == "cuda";
  if (!must && !has_device_backend()) return Device::kCpu;
  const auto devices = usable_devices();
  if (!devices.empty() && can_run_models(devices.front())) return Device::kCuda;
  if (!must) return Device::kCpu;
  if (devices.empty()) throw_usage_error({"`device` cuda", "an NVIDIA GPU this process can use", "none"});
  const auto& d = devices.front();
  throw_usage_error({"`device` cuda", "compute capability 8.0 (Ampere) or later",
                     fmt::format("{} with {}.{}", d.name, d.major, d.minor)});
}

}  // namespace buoy

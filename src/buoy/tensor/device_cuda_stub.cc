#include "buoy/tensor/device.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy {

bool has_device_backend() {
  return false;
}

std::vector<DeviceInfo> usable_devices() {
  throw_no_cuda();
}

}  // namespace buoy

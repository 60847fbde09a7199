#include "buoy/tensor/device.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy {

bool has_cuda_backend() {
  return false;
}

std::vector<DeviceInfo> cuda_devices() {
  throw_no_cuda();
}

}  // namespace buoy

#include "base/error.h"
#include "tensor/device.h"

namespace buoy {

std::vector<DeviceInfo> cuda_devices() {
  throw UsageError("this build has no GPU backend; configure with `cmake --preset cuda`");
}

}  // namespace buoy

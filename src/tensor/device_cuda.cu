#include <cuda_runtime.h>

#include "base/error.h"
#include "tensor/device.h"

namespace buoy {

static void check(cudaError_t status, const char* action) {
  if (status != cudaSuccess) throw IoError(std::string("GPU: cannot ") + action + ": " + cudaGetErrorString(status));
}

std::vector<DeviceInfo> cuda_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) return {};
  check(status, "count the devices");
  std::vector<DeviceInfo> devices;
  for (int number = 0; number < count; ++number) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, number), "read the properties");
    check(cudaSetDevice(number), "select the device");
    size_t free_bytes = 0, total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "ask for memory");
    devices.push_back({properties.name, total_bytes, free_bytes, properties.major, properties.minor});
  }
  return devices;
}

}  // namespace buoy

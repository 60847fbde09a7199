#include "buoy/tensor/cuda_check.cuh"
#include "buoy/tensor/device.h"

namespace buoy {
namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

bool has_device_backend() {
  return true;
}

std::vector<DeviceInfo> usable_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) return {};
  cuda_check(status, "count the devices");
  int runtime = 0, driver = 0;
  cuda_check(cudaRuntimeGetVersion(&runtime), "ask for the version of CUDA");
  cuda_check(cudaDriverGetVersion(&driver), "ask for the version of the driver");
  std::vector<DeviceInfo> devices;
  for (int number = 0; number < count; ++number) {
    cudaDeviceProp properties{};
    cuda_check(cudaGetDeviceProperties(&properties, number), "read the properties");
    cuda_check(cudaSetDevice(number), "select the device");
    size_t free_bytes = 0, total_bytes = 0;
    cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "ask for memory");
    devices.push_back({properties.name, total_bytes, free_bytes, properties.major, properties.minor,
                       version(runtime), version(driver)});
  }
  if (count > 0) cuda_check(cudaSetDevice(0), "select the device");
  return devices;
}

}  // namespace buoy

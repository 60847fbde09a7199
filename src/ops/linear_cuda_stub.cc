#include "ops/linear_cuda.h"
#include "tensor/no_cuda.h"

namespace buoy::ops {

struct DeviceLinear::Library {};

DeviceLinear::DeviceLinear(int) {
  throw_no_cuda();
}
DeviceLinear::~DeviceLinear() = default;
DeviceLinear::DeviceLinear(DeviceLinear&&) noexcept = default;
DeviceLinear& DeviceLinear::operator=(DeviceLinear&&) noexcept = default;
void DeviceLinear::prepare(const Stream&, const DeviceLinearArgs&) {
  throw_no_cuda();
}
void DeviceLinear::multiply(const Stream&, const DeviceLinearArgs&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

struct DeviceLinear::Library {};

DeviceLinear::DeviceLinear(int) {
  throw_no_cuda();
}
DeviceLinear::~DeviceLinear() = default;
DeviceLinear::DeviceLinear(DeviceLinear&&) noexcept = default;
DeviceLinear& DeviceLinear::operator=(DeviceLinear&&) noexcept = default;
void DeviceLinear::choose(LinearChoice) {
  throw_no_cuda();
}
bool DeviceLinear::finishes_qkv(const DeviceLinearArgs&) const {
  throw_no_cuda();
}
bool DeviceLinear::finds_best(std::int64_t, std::int64_t, std::int64_t) const {
  throw_no_cuda();
}
std::int64_t DeviceLinear::scratch_rows(std::int64_t, std::int64_t, std::int64_t) {
  throw_no_cuda();
}
void DeviceLinear::multiply(const Stream&, const DeviceLinearArgs&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

#include "buoy/ops/attention/set_masses_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

bool DeviceKeySets::set(const Packed&, const Stream&) {
  throw_no_cuda();
}
void set_masses_cuda(const DeviceKeySets&, const DeviceSetMasses&, const Stream&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

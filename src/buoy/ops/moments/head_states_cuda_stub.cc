#include "buoy/ops/moments/head_states_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

void head_norms_cuda(const Stream&, const DeviceHeadNorms&) {
  throw_no_cuda();
}
void head_drift_cuda(const Stream&, const DeviceHeadDrift&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

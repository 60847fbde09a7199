#include "buoy/ops/pointwise/rope_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

void finish_qkv_cuda(const Stream&, const DeviceQkvArgs&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

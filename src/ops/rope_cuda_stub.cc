#include "ops/rope_cuda.h"
#include "tensor/no_cuda.h"

namespace buoy::ops {

void finish_qkv_cuda(const Stream&, const DeviceQkvArgs&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

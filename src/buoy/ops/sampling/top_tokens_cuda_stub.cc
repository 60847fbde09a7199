#include "buoy/ops/sampling/top_tokens_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

void top_tokens_cuda(const Stream&, const TopTokensArgs&, const DeviceNotFinite&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

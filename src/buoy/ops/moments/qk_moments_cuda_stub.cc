#include "buoy/ops/moments/qk_moments_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

void qk_moments_cuda(AttentionPlan&, const DeviceQkMoments&, const Stream&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

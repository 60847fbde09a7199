#include "buoy/ops/sampling/prediction_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

void predict_cuda(const Stream&, const DevicePredictionArgs&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

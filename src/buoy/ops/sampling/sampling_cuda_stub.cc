#include "buoy/ops/sampling/sampling_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

void choose_cuda(const Stream&, const DeviceChoiceArgs&) {
  throw_no_cuda();
}

void choose_best_cuda(const Stream&, const DeviceBestArgs&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

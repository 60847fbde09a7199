#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

void route_cuda(const Stream&, const RouterRule&, const DeviceRouteArgs&) {
  throw_no_cuda();
}
void sort_pairs_cuda(const Stream&, const std::int32_t*, std::int64_t, std::int64_t, const DevicePairs&) {
  throw_no_cuda();
}
void experts_cuda(const Stream&, const DeviceExpertsArgs&, ExpertsChoice, ExpertsPart) {
  throw_no_cuda();
}

}  // namespace buoy::ops

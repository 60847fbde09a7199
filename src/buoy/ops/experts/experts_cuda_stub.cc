#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

std::int64_t pair_counts(std::int64_t, std::int64_t) {
  throw_no_cuda();
}
void route_cuda(const Stream&, const RouterRule&, const DeviceRouteArgs&) {
  throw_no_cuda();
}
void experts_cuda(const Stream&, const DeviceExpertsArgs&, ExpertsChoice, ExpertsPart) {
  throw_no_cuda();
}

}  // namespace buoy::ops

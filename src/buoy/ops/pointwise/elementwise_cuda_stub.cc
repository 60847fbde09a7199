#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

void embed_cuda(const Stream&, const DeviceEmbedArgs&) {
  throw_no_cuda();
}
void swiglu_cuda(const Stream&, const DeviceSwigluArgs&) {
  throw_no_cuda();
}
void scale_heads_cuda(const Stream&, const DeviceScaleHeadsArgs&) {
  throw_no_cuda();
}
void scale_numbers_cuda(const Stream&, const DeviceScaleNumbersArgs&) {
  throw_no_cuda();
}
void find_non_finite_cuda(const Stream&, const float*, std::int64_t, std::int32_t*, std::int32_t) {
  throw_no_cuda();
}
void widen_cuda(const Stream&, const DeviceWidenArgs&) {
  throw_no_cuda();
}
void fill_normal_cuda(const Stream&, std::uint16_t*, std::int64_t, std::uint64_t, double) {
  throw_no_cuda();
}

}  // namespace buoy::ops

#include "buoy/ops/pointwise/rows_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

void gather_rows_cuda(const Stream&, const DeviceGatherArgs&) {
  throw_no_cuda();
}
void change_rows_cuda(const Stream&, const DeviceRowChangeArgs&) {
  throw_no_cuda();
}

}  // namespace buoy::ops

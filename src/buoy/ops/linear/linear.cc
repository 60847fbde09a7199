#include "buoy/ops/linear/linear.h"

#include "buoy/base/error.h"
#include "buoy/ops/linear/linear_cpu.h"

namespace buoy::ops {

void linear(const Context& context, const LinearArgs& args, LinearScratch& scratch) {
  BUOY_CHECK(args.weight != nullptr && args.weight->shape.size() == 2);
  BUOY_CHECK(args.rows >= 0 && args.weight->rows() > 0 && args.weight->columns() > 0);
  if (args.rows > 0) linear_cpu(context, args, scratch);
}

}  // namespace buoy::ops

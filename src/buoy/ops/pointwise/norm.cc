#include "buoy/ops/pointwise/norm.h"

#include "buoy/base/error.h"
#include "buoy/ops/pointwise/norm_cpu.h"

namespace buoy::ops {

void rms_norm(const Context& context, const NormArgs& args) {
  BUOY_CHECK(args.rows >= 0 && args.width > 0 && args.eps > 0);
  constexpr std::int64_t kRowsPerTask = 16;
  context.threads.run((args.rows + kRowsPerTask - 1) / kRowsPerTask, [&](std::int64_t task, int) {
    const std::int64_t first = task * kRowsPerTask;
    rms_norm_rows_cpu(args, first, std::min(args.rows, first + kRowsPerTask));
  });
}

}  // namespace buoy::ops

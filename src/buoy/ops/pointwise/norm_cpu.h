#pragma once

#include "buoy/ops/pointwise/norm.h"

namespace buoy::ops {

void rms_norm_rows_cpu(const NormArgs& args, std::int64_t first, std::int64_t end);

}  // namespace buoy::ops

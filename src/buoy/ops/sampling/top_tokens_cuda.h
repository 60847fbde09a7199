#pragma once

#include "buoy/ops/sampling/top_tokens.h"
#include "buoy/tensor/stream.h"

namespace buoy::ops {

// As top_tokens(), with pointers to device memory; sums in float.
void top_tokens_cuda(const Stream& stream, const TopTokensArgs& args);

}  // namespace buoy::ops

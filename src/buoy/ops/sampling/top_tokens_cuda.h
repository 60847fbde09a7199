#pragma once

#include "buoy/ops/sampling/top_tokens.h"
#include "buoy/tensor/stream.h"

namespace buoy::ops {

// Where a NaN or an infinity among the logits is told: `flag`, on the device, is lowered to `code`.
struct DeviceNotFinite {
  std::int32_t* flag = nullptr;  // null: nobody asks
  std::int32_t code = 0;
};

// As top_tokens(), with pointers to device memory; sums in float. Logits must not be minus infinity, of which
// nothing is told.
void top_tokens_cuda(const Stream& stream, const TopTokensArgs& args, const DeviceNotFinite& not_finite = {});

}  // namespace buoy::ops

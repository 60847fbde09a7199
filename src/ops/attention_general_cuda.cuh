#pragma once

#include "ops/attention_softmax_cuda.cuh"
#include "ops/attention_statistics_cuda.cuh"

namespace buoy::ops {

// The kernels for any GPU since Ampere, any even head_dim up to 128 and any alignment.
void launch_forward_general(const ForwardArgs& args, int tiles, int heads, const Stream& stream);
void launch_statistics_general(const StatisticsArgs& args, int tiles, int heads, const Stream& stream);

}  // namespace buoy::ops

#pragma once

#include "ops/attention_softmax_cuda.cuh"
#include "ops/attention_statistics_cuda.cuh"

namespace buoy::ops {

// The kernels for sm_90: head_dim 64 or 128, rows aligned to 16 bytes.
void launch_forward_hopper(const PlanState& plan, ForwardArgs args, const CudaAttentionInputs& inputs,
                           const Stream& stream);
void launch_statistics_hopper(const PlanState& plan, StatisticsArgs args, const CudaAttentionInputs& inputs,
                              const Stream& stream);

}  // namespace buoy::ops

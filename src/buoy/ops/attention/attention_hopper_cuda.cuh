#pragma once

#include <cstdint>
#include <type_traits>

#include "buoy/ops/attention/attention_softmax_cuda.cuh"
#include "buoy/ops/attention/attention_statistics_cuda.cuh"

namespace buoy::ops {

// Calls with a number or a condition of the run as one the compiler knows.
template <typename Call>
void with_head_dim(std::int64_t head_dim, const Call& call) {
  if (head_dim == 64) return call(std::integral_constant<int, 64>());
  call(std::integral_constant<int, 128>());
}
template <typename Call>
void with_flag(bool flag, const Call& call) {
  if (flag) return call(std::true_type());
  call(std::false_type());
}

// The kernels for sm_90: head_dim 64 or 128, rows aligned to 16 bytes.
void launch_forward_hopper(const PlanState& plan, ForwardArgs args, const DeviceAttentionInputs& inputs,
                           const Stream& stream);
void launch_statistics_hopper(const PlanState& plan, StatisticsArgs args, const DeviceAttentionInputs& inputs,
                              const Stream& stream);

}  // namespace buoy::ops

#pragma once

#include <type_traits>

#include "buoy/ops/attention/attention_softmax_cuda.cuh"
#include "buoy/ops/attention/attention_statistics_cuda.cuh"

namespace buoy::ops {

// Bytes that a block may reserve on every GPU since Ampere; compute capability 8.6 and 8.9 have the least.
inline constexpr int kLeastSharedMemory = 99 * 1024;

// The kernels for any GPU since Ampere, any even head_dim up to 128 and any alignment.
void launch_forward_general(const ForwardArgs& args, int tiles, int heads, const Stream& stream);

// Where no sequence has more than kFewRows rows and the keys are divided (PlanState::splits).
struct FewRowsShape {
  int tiles, key_heads, longest_rows;
};
void launch_forward_few(const ForwardArgs& args, const FewRowsShape& shape, const Stream& stream);

void launch_statistics_general(const StatisticsArgs& args, int tiles, int heads, const Stream& stream);

// Calls with the smallest supported size that holds head_dim.
template <typename Call>
void with_dim(int head_dim, Call call) {
  if (head_dim <= 16) return call(std::integral_constant<int, 16>());
  if (head_dim <= 32) return call(std::integral_constant<int, 32>());
  if (head_dim <= 64) return call(std::integral_constant<int, 64>());
  call(std::integral_constant<int, 128>());
}

}  // namespace buoy::ops

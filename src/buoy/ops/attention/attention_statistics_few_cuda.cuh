#pragma once

#include "buoy/ops/attention/attention_statistics_cuda.cuh"
#include "buoy/ops/moments/qk_moments_cuda.cuh"

namespace buoy::ops {

inline constexpr int kMostHeadsTogether = 8;  // that share keys

// Whether rows are so few, and see so much, that launch_statistics_few() is for them.
bool few_can_measure(const PlanState& plan, const DeviceQkMoments* moments);

struct FewStatisticsShape {
  int key_tiles;  // of 64 keys
  int key_heads;
  bool early;  // see LaunchShape
};
// Everything but the strongest keys. `moments`, where they are wanted: launch_sum_queries() goes before.
void launch_statistics_few(const StatisticsArgs& args, const MomentArgs* moments,
                           const FewStatisticsShape& shape, const Stream& stream);

}  // namespace buoy::ops

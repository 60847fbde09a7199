#pragma once

#include <span>

#include "buoy/ops/attention/attention_statistics_cuda.cuh"
#include "buoy/ops/moments/qk_moments_cuda.cuh"

namespace buoy::ops {

inline constexpr int kMostHeadsTogether = 8;  // that share keys

// Whether rows are so few, and see so much, that launch_statistics_few() is for them.
bool few_can_measure(const PlanState& plan, const DeviceQkMoments* moments);

// Whether its kernel sums queries for itself, too.
bool few_sum_themselves(const PlanState& plan);

// One layer of those that are measured together.
struct FewLayer {
  StatisticsArgs statistics;
  MomentArgs moments;  // of no heads: none are wanted
};

// Everything but the strongest keys, of layers of one plan. Where moments are wanted, they are of all layers
// and of one kind, and where few_sum_themselves() says no,
// launch_sum_queries() of all of them goes right before.
void launch_statistics_few(const PlanState& plan, std::span<const FewLayer> layers, const Stream& stream);

}  // namespace buoy::ops

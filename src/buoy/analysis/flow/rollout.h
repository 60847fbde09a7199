#pragma once

#include <span>
#include <vector>

#include "buoy/analysis/flow/region_matrix.h"

namespace buoy::analysis {

// How the keys of a region are put together: the published sum favours long regions, the mean does not.
enum class Pooling { kSum, kMean };
inline constexpr Pooling kPoolings[] = {Pooling::kSum, Pooling::kMean};
const char* name_of(Pooling pooling);

// The mass between regions as a matrix whose rows sum to one.
RegionMatrix pooled(const RegionMatrix& mass, std::span<const double> lengths, Pooling pooling);

// One layer of a rollout, M = rownorm(P + I) of P = pooled(mass): half self, half attention.
RegionMatrix rollout_layer(const RegionMatrix& mass, std::span<const double> lengths, Pooling pooling);

// Rollouts over the last k of the layers, for every k in `depths` (ascending, from 1 to the number of
// layers): M[L-1] M[L-2] ... M[L-k], rows normalised. `layers` are rollout_layer's, shallowest first.
std::vector<RegionMatrix> rollouts(std::span<const RegionMatrix> layers,
                                   std::span<const std::int64_t> depths);

}  // namespace buoy::analysis

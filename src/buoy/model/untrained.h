#pragma once

#include <vector>

#include "buoy/checkpoint/initialisation.h"
#include "buoy/model/weights.h"
#include "buoy/tensor/buffer.h"

namespace buoy::model {

// Initial weights lie in `storage`, tensor by tensor in the type that released models are stored in.
inline constexpr DType kMadeType = DType::kBF16;
struct UntrainedWeights {
  ModelWeights weights;
  std::vector<Buffer<std::byte>> storage;
};
UntrainedWeights make_untrained(const ModelConfig& config, const FamilyTraits& traits,
                                const Initialisation& how);

}  // namespace buoy::model

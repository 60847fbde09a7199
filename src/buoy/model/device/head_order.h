#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/checkpoint/config.h"

// On a GPU the two numbers of a head that turn with each other always lie half a head apart. A model that
// rotates only the first dimensions has the dimensions of its queries and keys in another order there, the
// same for both, so that no product of them changes; pairs that do not turn have the frequency 0.
namespace buoy::model {

// Which of the model's dimensions stands at each place; empty: as in the model.
std::vector<std::int64_t> device_head_order(const ModelConfig& config);

// One for each pair of a whole head.
std::vector<double> device_rope_frequencies(const ModelConfig& config);

// Vectors [.., head_dim] into the order of the device, and back.
std::vector<float> in_head_order(std::span<const float> values, const std::vector<std::int64_t>& order);
void restore_head_order(std::span<float> values, const std::vector<std::int64_t>& order);

}  // namespace buoy::model

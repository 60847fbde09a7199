#pragma once

#include <cstdint>
#include <span>

#include "buoy/tensor/context.h"
#include "buoy/tensor/key_sets.h"

namespace buoy::ops {

// Sums rows of weights, [rows, keys], over sets of keys: [rows, sets]. Added up in double, key by key.
void set_masses(const Context& context, std::span<const float> weights, std::int64_t keys,
                const KeySets& sets, std::span<float> masses);

}  // namespace buoy::ops

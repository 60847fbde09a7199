#pragma once

#include <span>

namespace buoy {

// Whether every value lies between the two, which belong to the range; NaN does not. With the vector
// instructions of the machine.
bool all_within(std::span<const float> values, float least, float most);

}  // namespace buoy

#pragma once

#include <span>

namespace buoy {

// The natural logarithm of each value, with the vector instructions of the machine; within a few units in the
// last place. `out` may be `values`.
void logarithms(std::span<const double> values, std::span<double> out);

}  // namespace buoy

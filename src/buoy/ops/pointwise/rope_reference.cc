#include <cmath>

#include "buoy/ops/pointwise/rope.h"

namespace buoy::ops {

void rope_reference(std::span<const double> frequencies, const RopeArgs& args, double* output) {
  const auto pairs = static_cast<std::int64_t>(frequencies.size());
  for (size_t row = 0; row < args.positions.size(); ++row) {
    for (std::int64_t head = 0; head < args.heads; ++head) {
      const std::int64_t at = (static_cast<std::int64_t>(row) * args.heads + head) * args.head_dim;
      for (std::int64_t i = 0; i < args.head_dim; ++i) output[at + i] = args.states[at + i];
      for (std::int64_t j = 0; j < pairs; ++j) {
        const double angle = args.positions[row] * frequencies[static_cast<size_t>(j)];
        const double a = args.states[at + j], b = args.states[at + j + pairs];
        output[at + j] = a * std::cos(angle) - b * std::sin(angle);
        output[at + j + pairs] = b * std::cos(angle) + a * std::sin(angle);
      }
    }
  }
}

}  // namespace buoy::ops

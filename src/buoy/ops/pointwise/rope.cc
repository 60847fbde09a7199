#include "buoy/ops/pointwise/rope.h"

#include <cmath>
#include <numbers>

#include "buoy/base/error.h"

namespace buoy::ops {

std::vector<double> rope_frequencies(double theta, std::int64_t rotary_dim,
                                     const std::optional<RopeScaling>& scaling) {
  BUOY_CHECK(theta > 0 && rotary_dim > 0 && rotary_dim % 2 == 0);
  std::vector<double> frequencies;
  for (std::int64_t j = 0; j < rotary_dim / 2; ++j) {
    double frequency = std::pow(theta, -2.0 * static_cast<double>(j) / static_cast<double>(rotary_dim));
    if (scaling) {
      const double wavelength = 2.0 * std::numbers::pi / frequency;
      const double turns = scaling->original_context / wavelength;  // in the original context
      if (turns < scaling->low_freq_factor) {
        frequency /= scaling->factor;
      } else if (turns <= scaling->high_freq_factor) {
        const double keep =
            (turns - scaling->low_freq_factor) / (scaling->high_freq_factor - scaling->low_freq_factor);
        frequency = (1.0 - keep) * frequency / scaling->factor + keep * frequency;
      }
    }
    frequencies.push_back(frequency);
  }
  return frequencies;
}

void RopeTable::grow(std::int64_t positions) {
  const std::int64_t known = static_cast<std::int64_t>(cosines_.size()) / pairs();
  for (std::int64_t position = known; position < positions; ++position) {
    for (const double frequency : frequencies_) {
      const double angle = static_cast<double>(position) * frequency;
      cosines_.push_back(static_cast<float>(std::cos(angle)));
      sines_.push_back(static_cast<float>(std::sin(angle)));
    }
  }
}

void rope(const Context& context, const RopeTable& table, const RopeArgs& args) {
  const std::int64_t pairs = table.pairs();
  BUOY_CHECK(2 * pairs <= args.head_dim);
  const float direction = args.inverse ? -1.0f : 1.0f;
  context.threads.run(static_cast<std::int64_t>(args.positions.size()), [&](std::int64_t row, int) {
    const float* cosine = table.cosines(args.positions[static_cast<size_t>(row)]);
    const float* sine = table.sines(args.positions[static_cast<size_t>(row)]);
    for (std::int64_t head = 0; head < args.heads; ++head) {
      float* low = args.states + (row * args.heads + head) * args.head_dim;
      float* high = low + pairs;
      for (std::int64_t j = 0; j < pairs; ++j) {
        const float a = low[j], b = high[j];
        low[j] = a * cosine[j] - b * (direction * sine[j]);
        high[j] = b * cosine[j] + a * (direction * sine[j]);
      }
    }
  });
}

}  // namespace buoy::ops

#include "buoy/ops/pointwise/yarn.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "buoy/base/error.h"

namespace buoy::ops {

YarnRamp yarn_ramp(double theta, std::int64_t rotary_dim, const YarnScaling& scaling) {
  const auto dim = static_cast<double>(rotary_dim);
  // The dimension that turns so often in the original context.
  const auto turning = [&](double turns) {
    return dim * std::log(scaling.original_context / (2.0 * std::numbers::pi * turns)) /
           (2.0 * std::log(theta));
  };
  const double low = std::max(std::floor(turning(scaling.beta_fast)), 0.0),
               high = std::min(std::ceil(turning(scaling.beta_slow)), dim - 1.0);
  return {low, high == low ? high + 0.001 : high};
}

std::vector<double> yarn_frequencies(double theta, std::int64_t rotary_dim, const YarnScaling& scaling) {
  BUOY_CHECK(theta > 1 && rotary_dim > 0 && rotary_dim % 2 == 0 && scaling.factor > 0);
  const YarnRamp ramp = yarn_ramp(theta, rotary_dim, scaling);
  BUOY_CHECK(ramp.low < ramp.high);
  std::vector<double> frequencies;
  for (std::int64_t j = 0; j < rotary_dim / 2; ++j) {
    const auto pair = static_cast<double>(j);
    const double plain = std::pow(theta, -2.0 * pair / static_cast<double>(rotary_dim));
    const double share = std::clamp((pair - ramp.low) / (ramp.high - ramp.low), 0.0, 1.0);
    frequencies.push_back(plain * (1.0 - share) + plain / scaling.factor * share);
  }
  return frequencies;
}

double yarn_attention_factor(double factor, std::optional<double> mscale,
                             std::optional<double> mscale_all_dim) {
  const auto m = [&](double weight) { return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0; };
  return mscale && mscale_all_dim ? m(*mscale) / m(*mscale_all_dim) : m(1.0);
}

double RotaryScales::of_query(std::int64_t position) const {
  const double stretches = std::floor(static_cast<double>(position) / original_context);
  return attention_factor * (1.0 + query_beta * std::log(1.0 + stretches));
}

void scale_rows(const Context& context, const RotaryScales& scales, const ScaleRowsArgs& args) {
  context.threads.run(std::ssize(args.positions), [&](std::int64_t row, int) {
    const double scale =
        args.queries ? scales.of_query(args.positions[static_cast<size_t>(row)]) : scales.of_key();
    const auto factor = static_cast<float>(scale);
    if (factor == 1.0f) return;
    float* states = args.states + row * args.width;
    for (std::int64_t i = 0; i < args.width; ++i) states[i] *= factor;
  });
}

}  // namespace buoy::ops

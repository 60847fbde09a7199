#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buoy/tensor/context.h"

namespace buoy::ops {

// YaRN: frequencies that turn often in the original context are kept, those that turn seldom are divided by
// `factor`, those between are blended along a ramp. beta_fast and beta_slow are the turns where it begins and
// ends.
struct YarnScaling {
  double factor;
  double original_context;
  double beta_fast;
  double beta_slow;
};

// Pairs between which the ramp lies; low < high, unless the numbers allow none.
struct YarnRamp {
  double low, high;
};
YarnRamp yarn_ramp(double theta, std::int64_t rotary_dim, const YarnScaling& scaling);

// One frequency per rotated pair.
std::vector<double> yarn_frequencies(double theta, std::int64_t rotary_dim, const YarnScaling& scaling);

// What cosines and sines are multiplied by, where the config does not say.
double yarn_attention_factor(double factor, std::optional<double> mscale,
                             std::optional<double> mscale_all_dim);

// Factors on rotated states. A rotation keeps lengths, so that they may as well come before it: then states
// before and after it differ by the rotation alone.
struct RotaryScales {
  double attention_factor = 1;  // on queries and keys
  // On queries: 1 + query_beta ln(1 + floor(position / original_context)).
  double query_beta = 0;
  double original_context = 1;

  bool any() const { return attention_factor != 1 || query_beta != 0; }
  double of_query(std::int64_t position) const;
  double of_key() const { return attention_factor; }
};

// Multiplies the rows of states [rows, width] by their query or key factors.
struct ScaleRowsArgs {
  float* states;
  std::int64_t width;
  std::span<const std::int32_t> positions;  // [rows]
  bool queries = false;
};
void scale_rows(const Context& context, const RotaryScales& scales, const ScaleRowsArgs& args);

}  // namespace buoy::ops

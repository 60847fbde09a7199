#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buoy/tensor/context.h"

namespace buoy::ops {

// Llama 3.1's scaling: long wavelengths are divided by `factor`, short ones kept, those between blended.
struct RopeScaling {
  double factor;
  double low_freq_factor;
  double high_freq_factor;
  double original_context;
};

// One frequency per rotated pair, in double.
std::vector<double> rope_frequencies(double theta, std::int64_t rotary_dim,
                                     const std::optional<RopeScaling>& scaling);

// cos and sin of every (position, pair), computed in double, kept as float; grows as positions appear.
class RopeTable {
 public:
  explicit RopeTable(std::vector<double> frequencies) : frequencies_(std::move(frequencies)) {}

  void grow(std::int64_t positions);
  std::int64_t pairs() const { return static_cast<std::int64_t>(frequencies_.size()); }
  const float* cosines(std::int64_t position) const { return cosines_.data() + position * pairs(); }
  const float* sines(std::int64_t position) const { return sines_.data() + position * pairs(); }

 private:
  std::vector<double> frequencies_;
  std::vector<float> cosines_;  // [positions, pairs]
  std::vector<float> sines_;    // [positions, pairs]
};

struct RopeArgs {
  float* states;  // [rows, heads, head_dim], rotated in place
  std::int64_t heads;
  std::int64_t head_dim;                    // dimensions past 2 * pairs stay as they are
  std::span<const std::int32_t> positions;  // [rows]
  bool inverse = false;                     // turn back
};

// Half-split rotation: dimension j turns with dimension j + pairs.
void rope(const Context& context, const RopeTable& table, const RopeArgs& args);

void rope_reference(std::span<const double> frequencies, const RopeArgs& args, double* output);

}  // namespace buoy::ops

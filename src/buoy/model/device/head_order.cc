#include "buoy/model/device/head_order.h"

#include <numeric>

#include "buoy/base/error.h"
#include "buoy/model/family.h"

namespace buoy::model {

std::vector<std::int64_t> device_head_order(const ModelConfig& config) {
  const std::int64_t dim = config.head_dim, rotary = config.rope.rotary_dim;
  if (rotary == dim) return {};
  BUOY_CHECK(dim % 2 == 0 && rotary % 2 == 0 && rotary < dim);
  std::vector<std::int64_t> order;
  const std::int64_t still = (dim - rotary) / 2;
  for (const std::int64_t half : {0, 1}) {
    for (std::int64_t i = 0; i < rotary / 2; ++i) order.push_back(half * rotary / 2 + i);
    for (std::int64_t i = 0; i < still; ++i) order.push_back(rotary + half * still + i);
  }
  return order;
}

std::vector<double> device_rope_frequencies(const ModelConfig& config) {
  std::vector<double> frequencies = rope_frequencies_of(config.rope);
  frequencies.resize(static_cast<size_t>(config.head_dim / 2), 0.0);
  return frequencies;
}

std::vector<float> in_head_order(std::span<const float> values, const std::vector<std::int64_t>& order) {
  if (order.empty()) return {values.begin(), values.end()};
  BUOY_CHECK(values.size() % order.size() == 0);
  std::vector<float> out;
  out.reserve(values.size());
  for (size_t first = 0; first < values.size(); first += order.size()) {
    for (const auto dimension : order) out.push_back(values[first + static_cast<size_t>(dimension)]);
  }
  return out;
}

void restore_head_order(std::span<float> values, const std::vector<std::int64_t>& order) {
  if (order.empty()) return;
  BUOY_CHECK(values.size() % order.size() == 0);
  std::vector<float> head(order.size());
  for (size_t first = 0; first < values.size(); first += order.size()) {
    for (size_t i = 0; i < order.size(); ++i) head[static_cast<size_t>(order[i])] = values[first + i];
    std::copy(head.begin(), head.end(), values.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

}  // namespace buoy::model

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace buoy::model {

// Keys (rotated) and values of one sequence's past, per layer.
class KvCache {
 public:
  KvCache(std::int64_t layers, std::int64_t width) : width_(width), keys_(layers), values_(layers) {}

  std::int64_t length() const { return length_; }
  const float* keys(std::int64_t layer) const {
    return keys_[static_cast<size_t>(layer)].data();
  }  // [length, width]
  const float* values(std::int64_t layer) const {
    return values_[static_cast<size_t>(layer)].data();
  }  // [length, width]

  void append(std::int64_t layer, const float* keys, const float* values, std::int64_t rows) {
    const auto layer_index = static_cast<size_t>(layer);
    keys_[layer_index].insert(keys_[layer_index].end(), keys, keys + rows * width_);
    values_[layer_index].insert(values_[layer_index].end(), values, values + rows * width_);
  }

  KvCache prefix(std::int64_t rows) const {
    KvCache out(static_cast<std::int64_t>(keys_.size()), width_);
    for (size_t layer = 0; layer < keys_.size(); ++layer) {
      out.keys_[layer].assign(keys_[layer].begin(), keys_[layer].begin() + rows * width_);
      out.values_[layer].assign(values_[layer].begin(), values_[layer].begin() + rows * width_);
    }
    out.length_ = rows;
    return out;
  }

  // After every layer has appended its rows.
  void advance(std::int64_t rows) { length_ += rows; }

 private:
  std::int64_t width_;
  std::int64_t length_ = 0;
  std::vector<std::vector<float>> keys_;
  std::vector<std::vector<float>> values_;
};

}  // namespace buoy::model

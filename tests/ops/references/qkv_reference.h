#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "buoy/ops/pointwise/yarn.h"

namespace buoy::testing {

// What lies between the projection of queries, keys and values and the attention, as plain loops in double or
// float: bias, norm of each head of queries and keys, rotation.
struct QkvReference {
  std::int64_t heads, kv_heads, dim;
  std::vector<float> bias, query_norm, key_norm;  // empty: none
  double eps = 1e-6;
  std::vector<std::int32_t> positions;  // of each row
  std::vector<double> frequencies;
  ops::RotaryScales scales = {};

  std::int64_t width() const { return (heads + 2 * kv_heads) * dim; }

  // [rows, width()]
  template <typename T>
  std::vector<T> finish(std::span<const T> states) const {
    std::vector<T> out;
    for (size_t r = 0; r < positions.size(); ++r) {
      for (std::int64_t h = 0; h < heads + 2 * kv_heads; ++h) {
        std::vector<T> x;
        T sum = 0;
        for (std::int64_t i = 0; i < dim; ++i) {
          const auto column = static_cast<size_t>(h * dim + i);
          x.push_back(states[r * static_cast<size_t>(width()) + column] +
                      (bias.empty() ? T(0) : T(bias[column])));
          sum += x.back() * x.back();
        }
        if (h < heads + kv_heads) {
          const auto& norm = h < heads ? query_norm : key_norm;
          for (size_t i = 0; i < x.size() && !norm.empty(); ++i)
            x[i] *= norm[i] / std::sqrt(sum / static_cast<T>(dim) + static_cast<T>(eps));
          const double scale = h < heads ? scales.of_query(positions[r]) : scales.of_key();
          for (T& value : x) value *= static_cast<T>(scale);
          rotate(x, positions[r]);
        }
        out.insert(out.end(), x.begin(), x.end());
      }
    }
    return out;
  }

 private:
  template <typename T>
  void rotate(std::vector<T>& x, std::int32_t position) const {
    const size_t pairs = x.size() / 2;
    for (size_t j = 0; j < pairs; ++j) {
      const double angle = position * frequencies[j];
      const T a = x[j], b = x[j + pairs], cosine = static_cast<T>(std::cos(angle)),
              sine = static_cast<T>(std::sin(angle));
      x[j] = a * cosine - b * sine;
      x[j + pairs] = b * cosine + a * sine;
    }
  }
};

}  // namespace buoy::testing

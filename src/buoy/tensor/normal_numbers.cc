#include "buoy/tensor/normal_numbers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "buoy/tensor/dtype.h"

namespace buoy {
namespace {

constexpr std::size_t kQuantiles = 65536;

// Bisection on the normal distribution function.
double quantile(double p) {
  double low = -6, high = 6;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return low;
}

const std::vector<double>& quantiles() {
  static const std::vector<double> table = [] {
    std::vector<double> out(kQuantiles);
    for (std::size_t i = 0; i < kQuantiles; ++i)
      out[i] = quantile((static_cast<double>(i) + 0.5) / static_cast<double>(kQuantiles));
    return out;
  }();
  return table;
}

}  // namespace

NormalNumbers::NormalNumbers(std::uint64_t seed) : state_(seed) {}

void NormalNumbers::fill(std::span<std::uint16_t> out, double deviation) {
  const auto& table = quantiles();
  std::vector<std::uint16_t> scaled(kQuantiles);
  for (std::size_t i = 0; i < kQuantiles; ++i)
    scaled[i] = float_to_bf16(static_cast<float>(table[i] * deviation));
  for (std::size_t i = 0; i < out.size(); i += 4) {
    std::uint64_t bits = next();
    for (std::size_t j = i; j < std::min(i + 4, out.size()); ++j, bits >>= 16) out[j] = scaled[bits & 0xFFFF];
  }
}

std::uint64_t NormalNumbers::next() {  // splitmix64
  std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace buoy

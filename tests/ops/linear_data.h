#pragma once

#include <cstring>
#include <vector>

#include "buoy/ops/linear/linear.h"
#include "ops/cases.h"
#include "ops/error_ratio.h"

namespace buoy::testing {

inline std::vector<std::byte> stored_as(DType dtype, const std::vector<float>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * size_of(dtype));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::uint16_t half = dtype == DType::kF16 ? float_to_f16(numbers[i]) : float_to_bf16(numbers[i]);
    const void* from = dtype == DType::kF32 ? static_cast<const void*>(&numbers[i]) : &half;
    std::memcpy(bytes.data() + i * size_of(dtype), from, size_of(dtype));
  }
  return bytes;
}

// Input, weight and bias of a case; outputs have about unit variance.
struct LinearData {
  std::vector<float> input, bias;
  std::vector<std::byte> stored;
  Weight weight;

  LinearData(const LinearCase& c, std::uint64_t seed)
      : input(normal_numbers(seed, c.rows * c.inputs)),
        bias(c.bias ? normal_numbers(seed + 1, c.outputs) : std::vector<float>{}),
        stored(stored_as(c.dtype, normal_numbers(seed + 2, c.outputs * c.inputs,
                                                 1 / std::sqrt(static_cast<double>(c.inputs))))),
        weight{stored.data(), c.dtype, {c.outputs, c.inputs}} {}
  LinearData(const LinearData&) = delete;
  LinearData& operator=(const LinearData&) = delete;

  ops::LinearArgs args(std::int64_t first_row, std::int64_t rows, float* output) const {
    return {input.data() + first_row * weight.columns(), rows, &weight, bias.empty() ? nullptr : bias.data(),
            output};
  }
};

}  // namespace buoy::testing

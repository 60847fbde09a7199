// Matrix products on a GPU beside a reference in double. The rule is that of error_ratio.h; the plain version
// computes in float and rounds where the GPU stores bf16.

#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "ops/device_array.h"
#include "ops/error_ratio.h"

namespace buoy::testing {

// Tensor cores do not round their float sums to nearest, they cut. The plain version does the same.
inline float toward_zero(double value) {
  const float nearest = static_cast<float>(value);
  return std::abs(nearest) > std::abs(value) ? std::nextafter(nearest, 0.0f) : nearest;
}

template <typename T>
T silu_times(T gate, T up) {
  return gate / (1 + std::exp(-gate)) * up;
}

// silu(gate) * up of columns that take turns.
template <typename T>
std::vector<T> swiglu(const std::vector<T>& both) {
  std::vector<T> out;
  for (size_t i = 0; i < both.size(); i += 2 * ops::kSwigluTurn) {
    for (size_t j = i; j < i + ops::kSwigluTurn; ++j)
      out.push_back(silu_times(both[j], both[j + ops::kSwigluTurn]));
  }
  return out;
}

struct ProductShape {
  std::int64_t rows, inputs, outputs;
};

// Numbers of a product and room for what comes out.
struct Product {
  Product(const ProductShape& s, std::uint64_t seed)
      : shape(s),
        input(rounded(normal_numbers(3 * seed + 1, s.rows * s.inputs))),
        weight(rounded(normal_numbers(3 * seed + 2, s.outputs * s.inputs, 1 / std::sqrt(s.inputs)))),
        residual(normal_numbers(3 * seed + 3, s.rows * s.outputs)),
        x(to_bf16(input)),
        w(to_bf16(weight)),
        scratch(size()) {}

  size_t size() const { return static_cast<size_t>(shape.rows * shape.outputs); }

  // What the GPU makes of rows [first, first + rows), as bits.
  template <typename T>
  std::vector<T> run(ops::LinearChoice choice, ops::LinearOutput kind, std::int64_t first,
                     std::int64_t rows) const {
    const std::int64_t columns = kind == ops::LinearOutput::kSwiglu ? shape.outputs / 2 : shape.outputs;
    const auto count = static_cast<size_t>(rows * columns);
    const auto out = [&] {
      if constexpr (std::is_same_v<T, float>) {
        if (kind == ops::LinearOutput::kAddFloat)
          return DeviceArray<float>(std::span(residual).subspan(static_cast<size_t>(first * columns), count));
      }
      return DeviceArray<T>(count);
    }();
    const Stream stream;
    ops::DeviceLinear linear;
    linear.choose(choice);
    linear.multiply(stream, {x.data() + first * shape.inputs, rows, w.data(), shape.inputs, shape.outputs,
                             out.data(), kind, scratch.data()});
    stream.synchronize();
    return out.host();
  }
  template <typename T>
  std::vector<T> run(ops::LinearChoice choice, ops::LinearOutput kind) const {
    return run<T>(choice, kind, 0, shape.rows);
  }

  ProductShape shape;
  std::vector<float> input, weight, residual;
  DeviceArray<std::uint16_t> x, w, scratch;
};

inline void expect_small_errors(ops::LinearChoice choice, const ProductShape& shape) {
  SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.inputs) + " x " +
               std::to_string(shape.outputs) +
               (choice == ops::LinearChoice::kLibrary ? ", library" : ", own"));
  ErrorRatio in_bf16, in_float, added, activated;
  const bool even = shape.outputs % (2 * ops::kSwigluTurn) == 0;
  for (std::uint64_t seed = 0; !in_bf16.enough(); ++seed) {
    const Product product(shape, seed);
    std::vector<double> exact, exact_sum;
    std::vector<float> plain, plain_sum;
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      for (std::int64_t o = 0; o < shape.outputs; ++o) {
        double sum = 0;
        float float_sum = 0;
        for (std::int64_t i = 0; i < shape.inputs; ++i) {
          const double term = static_cast<double>(product.input[static_cast<size_t>(r * shape.inputs + i)]) *
                              product.weight[static_cast<size_t>(o * shape.inputs + i)];
          sum += term;
          float_sum = toward_zero(float_sum + term);
        }
        const float residual = product.residual[exact.size()];
        exact.push_back(sum);
        plain.push_back(float_sum);
        exact_sum.push_back(sum + residual);
        plain_sum.push_back(float_sum + residual);
      }
    }
    in_bf16.add(from_bf16(product.run<std::uint16_t>(choice, ops::LinearOutput::kBf16)), rounded(plain),
                exact);
    in_float.add(product.run<float>(choice, ops::LinearOutput::kFloat), plain, exact);
    added.add(product.run<float>(choice, ops::LinearOutput::kAddFloat), plain_sum, exact_sum);
    if (!even) continue;
    // The library stores gate and up as bf16 on the way.
    const auto plain_both = choice == ops::LinearChoice::kLibrary ? rounded(plain) : plain;
    activated.add(from_bf16(product.run<std::uint16_t>(choice, ops::LinearOutput::kSwiglu)),
                  rounded(swiglu(plain_both)), swiglu(exact));
  }
  in_bf16.expect_at_most_twice("bf16");
  in_float.expect_at_most_twice("float");
  added.expect_at_most_twice("added");
  if (even) activated.expect_at_most_twice("swiglu");
}

}  // namespace buoy::testing

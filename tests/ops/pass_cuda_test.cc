// The GPU's operations around attention against their references in double. The rule is that of
// error_ratio.h; the plain version computes in float and rounds where the GPU stores bf16.

#include <gtest/gtest.h>

#include <cmath>

#include "ops/device_array.h"
#include "ops/elementwise_cuda.h"
#include "ops/error_ratio.h"
#include "ops/linear.h"
#include "ops/linear_cuda.h"
#include "ops/norm_cuda.h"
#include "ops/rope.h"
#include "ops/rope_cuda.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using testing::DeviceArray;
using testing::ErrorRatio;
using testing::from_bf16;
using testing::normal_numbers;
using testing::rounded;
using testing::to_bf16;

// Tensor cores do not round their float sums to nearest, they cut. The plain version does the same.
float toward_zero(double value) {
  const float nearest = static_cast<float>(value);
  return std::abs(nearest) > std::abs(value) ? std::nextafter(nearest, 0.0f) : nearest;
}

TEST(LinearCuda, AllOutputs) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  ops::DeviceLinear linear;
  struct Shape {
    std::int64_t rows, inputs, outputs;
  };
  for (const auto& [rows, inputs, outputs] :
       {Shape{1, 64, 96}, {3, 32, 100}, {17, 40, 64}, {128, 512, 384}, {300, 1024, 72}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(inputs) + " x " + std::to_string(outputs));
    ErrorRatio in_bf16, in_float, added;
    for (std::uint64_t seed = 0; !in_bf16.enough(); ++seed) {
      const auto input = rounded(normal_numbers(3 * seed + 1, rows * inputs));
      const auto weight = rounded(normal_numbers(3 * seed + 2, outputs * inputs));
      const auto residual = normal_numbers(3 * seed + 3, rows * outputs);
      std::vector<double> exact(static_cast<size_t>(rows * outputs)), exact_sum = exact;
      std::vector<float> plain(exact.size()), plain_sum = plain;
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t o = 0; o < outputs; ++o) {
          double sum = 0;
          float float_sum = 0;
          for (std::int64_t i = 0; i < inputs; ++i) {
            const float a = input[static_cast<size_t>(r * inputs + i)],
                        b = weight[static_cast<size_t>(o * inputs + i)];
            sum += static_cast<double>(a) * b;
            float_sum = toward_zero(float_sum + static_cast<double>(a) * b);
          }
          const auto at = static_cast<size_t>(r * outputs + o);
          exact[at] = sum;
          plain[at] = float_sum;
          exact_sum[at] = sum + residual[at];
          plain_sum[at] = float_sum + residual[at];
        }
      }
      const DeviceArray<std::uint16_t> x(to_bf16(input)), w(to_bf16(weight)), half(exact.size());
      const DeviceArray<float> whole(exact.size()), sum(residual);
      linear.multiply(stream,
                      {x.data(), rows, w.data(), inputs, outputs, half.data(), ops::LinearOutput::kBf16});
      linear.multiply(stream,
                      {x.data(), rows, w.data(), inputs, outputs, whole.data(), ops::LinearOutput::kFloat});
      linear.multiply(stream,
                      {x.data(), rows, w.data(), inputs, outputs, sum.data(), ops::LinearOutput::kAddFloat});
      stream.synchronize();
      in_bf16.add(from_bf16(half.host()), rounded(plain), exact);
      in_float.add(whole.host(), plain, exact);
      added.add(sum.host(), plain_sum, exact_sum);
    }
    in_bf16.expect_at_most_twice("bf16");
    in_float.expect_at_most_twice("float");
    added.expect_at_most_twice("added");
  }
}

TEST(NormCuda, ChosenRows) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  for (const std::int64_t width : {32, 40, 4096, 8200}) {
    const std::int64_t rows = 9;
    const std::vector<std::int32_t> chosen = {8, 0, 3, 3, 7};
    const auto input = normal_numbers(5, rows * width, 3.0), weight = normal_numbers(6, width);
    const DeviceArray<float> x(input), w(weight);
    const DeviceArray<std::int32_t> c(chosen);
    const DeviceArray<std::uint16_t> out(chosen.size() * static_cast<size_t>(width));
    ops::rms_norm_cuda(stream, {x.data(), c.data(), 5, width, w.data(), 1e-5, out.data()});
    stream.synchronize();
    std::vector<double> exact;
    std::vector<float> plain;
    for (const auto row : chosen) {
      const float* from = input.data() + row * width;
      double sum = 0;
      float float_sum = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        sum += static_cast<double>(from[i]) * from[i];
        float_sum += from[i] * from[i];
      }
      const double factor = 1 / std::sqrt(sum / static_cast<double>(width) + 1e-5);
      const float float_factor = 1 / std::sqrt(float_sum / static_cast<float>(width) + 1e-5f);
      for (std::int64_t i = 0; i < width; ++i) {
        exact.push_back(from[i] * factor * weight[static_cast<size_t>(i)]);
        plain.push_back(from[i] * float_factor * weight[static_cast<size_t>(i)]);
      }
    }
    ErrorRatio ratio;
    ratio.add(from_bf16(out.host()), rounded(plain), exact);
    ratio.expect_at_most_twice("width " + std::to_string(width));
  }
}

TEST(SwigluCuda, AgreesWithTheReference) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const std::int64_t rows = 11, width = 72;
  const auto both = rounded(normal_numbers(9, rows * 2 * width, 2.0));
  const DeviceArray<std::uint16_t> in(to_bf16(both)), out(static_cast<size_t>(rows * width));
  ops::swiglu_cuda(stream, {in.data(), rows, width, out.data()});
  stream.synchronize();
  std::vector<double> exact;
  std::vector<float> plain;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i < width; ++i) {
      const float gate = both[static_cast<size_t>(r * 2 * width + i)],
                  up = both[static_cast<size_t>(r * 2 * width + width + i)];
      exact.push_back(gate / (1 + std::exp(-static_cast<double>(gate))) * up);
      plain.push_back(gate / (1 + std::exp(-gate)) * up);
    }
  }
  ErrorRatio ratio;
  ratio.add(from_bf16(out.host()), rounded(plain), exact);
  ratio.expect_at_most_twice("swiglu");
}

// Bias, norm, rotation, the copies for caches and for those who look before the rotation.
TEST(QkvCuda, EverythingBetweenProjectionAndAttention) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  for (const std::int64_t dim : {8, 16, 64, 128}) {
    SCOPED_TRACE(dim);
    const std::int64_t heads = 4, kv_heads = 2, rows = 13, all = heads + 2 * kv_heads;
    const auto width = static_cast<size_t>(all * dim);
    const auto states = rounded(normal_numbers(21, rows * all * dim)), bias = normal_numbers(22, all * dim);
    const auto query_norm = normal_numbers(23, dim), key_norm = normal_numbers(24, dim);
    std::vector<std::int32_t> positions, cache_rows;
    for (std::int32_t r = 0; r < rows; ++r) {
      positions.push_back(3 * r + 1);
      cache_rows.push_back(20 - r);
    }
    const auto frequencies = ops::rope_frequencies(10000, dim, std::nullopt);
    ops::RopeTable table(frequencies);
    table.grow(64);
    const std::int64_t pairs = dim / 2;
    const DeviceArray<float> cosines(std::span(table.cosines(0), static_cast<size_t>(64 * pairs)));
    const DeviceArray<float> sines(std::span(table.sines(0), static_cast<size_t>(64 * pairs)));
    const DeviceArray<std::uint16_t> qkv(to_bf16(states));
    const DeviceArray<std::uint16_t> before(static_cast<size_t>(rows * (heads + kv_heads) * dim));
    const DeviceArray<std::uint16_t> keys(static_cast<size_t>(24 * kv_heads * dim)),
        values(static_cast<size_t>(24 * kv_heads * dim));
    const DeviceArray<float> b(bias), qn(query_norm), kn(key_norm);
    const DeviceArray<std::int32_t> where(positions), kept(cache_rows), flag(std::vector<std::int32_t>{1000});
    ops::DeviceQkvArgs args{qkv.data(),  rows, heads, kv_heads, dim, {cosines.data(), sines.data(), pairs},
                            where.data()};
    args.bias = b.data();
    args.query_norm = qn.data();
    args.key_norm = kn.data();
    args.eps = 1e-6;
    args.unrotated = before.data();
    args.cache_rows = kept.data();
    args.cached_keys = keys.data();
    args.cached_values = values.data();
    args.flag = flag.data();
    args.code = 5;
    ops::finish_qkv_cuda(stream, args);
    const DeviceArray<std::uint16_t> back(static_cast<size_t>(kv_heads * dim));
    ops::unrotate_cuda(
        stream, {keys.data() + 20 * kv_heads * dim, 1, positions[0], kv_heads, dim, args.rope, back.data()});
    stream.synchronize();
    EXPECT_EQ(flag.host()[0], 1000);

    std::vector<double> exact(states.size()), exact_before;
    std::vector<float> plain(states.size()), plain_before;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t h = 0; h < all; ++h) {
        const auto first = static_cast<size_t>(r) * width + static_cast<size_t>(h * dim);
        const bool is_value = h >= heads + kv_heads;
        const auto& norm = h < heads ? query_norm : key_norm;
        std::vector<double> x;
        std::vector<float> y;
        double sum = 0;
        float float_sum = 0;
        for (std::int64_t i = 0; i < dim; ++i) {
          const float extra = bias[static_cast<size_t>(h * dim + i)];
          x.push_back(static_cast<double>(states[first + static_cast<size_t>(i)]) + extra);
          y.push_back(states[first + static_cast<size_t>(i)] + extra);
          sum += x.back() * x.back();
          float_sum += y.back() * y.back();
        }
        if (!is_value) {
          for (std::int64_t i = 0; i < dim; ++i) {
            const auto n = static_cast<size_t>(i);
            x[n] *= norm[n] / std::sqrt(sum / static_cast<double>(dim) + 1e-6);
            y[n] *= norm[n] / std::sqrt(float_sum / static_cast<float>(dim) + 1e-6f);
          }
          exact_before.insert(exact_before.end(), x.begin(), x.end());
          plain_before.insert(plain_before.end(), y.begin(), y.end());
          for (std::int64_t j = 0; j < pairs; ++j) {
            const auto low = static_cast<size_t>(j), high = static_cast<size_t>(j + pairs);
            const double angle = positions[static_cast<size_t>(r)] * frequencies[low];
            const double a = x[low], c = x[high];
            x[low] = a * std::cos(angle) - c * std::sin(angle);
            x[high] = c * std::cos(angle) + a * std::sin(angle);
            const float fa = y[low], fc = y[high], cosine = static_cast<float>(std::cos(angle)),
                        sine = static_cast<float>(std::sin(angle));
            y[low] = fa * cosine - fc * sine;
            y[high] = fc * cosine + fa * sine;
          }
        }
        std::copy(x.begin(), x.end(), exact.begin() + static_cast<std::ptrdiff_t>(first));
        std::copy(y.begin(), y.end(), plain.begin() + static_cast<std::ptrdiff_t>(first));
      }
    }
    const auto ours = qkv.host();
    ErrorRatio after, unrotated;
    after.add(from_bf16(ours), rounded(plain), exact);
    after.expect_at_most_twice("after");
    unrotated.add(from_bf16(before.host()), rounded(plain_before), exact_before);
    unrotated.expect_at_most_twice("before");
    const auto cached_keys = keys.host(), cached_values = values.host();
    const auto kv_width = kv_heads * dim;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::uint16_t* row = ours.data() + static_cast<std::int64_t>(width) * r + heads * dim;
      EXPECT_TRUE(std::equal(row, row + kv_width, cached_keys.begin() + (20 - r) * kv_width));
      EXPECT_TRUE(
          std::equal(row + kv_width, row + 2 * kv_width, cached_values.begin() + (20 - r) * kv_width));
    }
    const auto turned_back = from_bf16(back.host());
    for (size_t i = 0; i < turned_back.size(); ++i) {
      const double expected = exact_before[static_cast<size_t>(heads * dim) + i];
      EXPECT_NEAR(turned_back[i], expected, 0.02 * (std::abs(expected) + 1)) << i;
    }
  }
}

TEST(QkvCuda, RaisesTheFlag) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  std::vector<float> states(3 * 16, 1.0f);
  states[17] = std::numeric_limits<float>::infinity();
  const DeviceArray<std::uint16_t> qkv(to_bf16(states));
  const DeviceArray<float> cosines(std::vector<float>(8, 1.0f)), sines(std::vector<float>(8, 0.0f));
  const DeviceArray<std::int32_t> positions(std::vector<std::int32_t>{0}),
      flag(std::vector<std::int32_t>{1000});
  ops::DeviceQkvArgs args{qkv.data(), 1, 1, 1, 16, {cosines.data(), sines.data(), 8}, positions.data()};
  args.flag = flag.data();
  args.code = 7;
  ops::finish_qkv_cuda(stream, args);
  stream.synchronize();
  EXPECT_EQ(flag.host()[0], 7);
}

}  // namespace
}  // namespace buoy

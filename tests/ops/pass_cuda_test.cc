// The GPU's operations around attention against their references in double. The rule is that of
// error_ratio.h; the plain version computes in float and rounds where the GPU stores bf16.

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/ops/pointwise/norm_cuda.h"
#include "buoy/ops/pointwise/rope.h"
#include "buoy/ops/pointwise/rope_cuda.h"
#include "ops/device_array.h"
#include "ops/error_ratio.h"
#include "ops/references/qkv_reference.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using testing::DeviceArray;
using testing::ErrorRatio;
using testing::from_bf16;
using testing::normal_numbers;
using testing::QkvReference;
using testing::rounded;
using testing::to_bf16;

TEST(NormCuda, ChosenRows) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  for (const std::int64_t width : {32, 40, 4096, 5120, 8200}) {
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

// The bits of a row are the same alone, among few others and among many.
TEST(NormCuda, RowsAlone) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  for (const std::int64_t width : {40, 4096, 5120, 8200}) {
    SCOPED_TRACE(width);
    const std::int64_t many = 300;
    const DeviceArray<float> x(normal_numbers(15, many * width, 3.0)), w(normal_numbers(16, width));
    const auto of_rows = [&](std::int64_t rows) {
      const DeviceArray<std::uint16_t> out(static_cast<size_t>(rows * width));
      ops::rms_norm_cuda(stream, {x.data(), nullptr, rows, width, w.data(), 1e-5, out.data()});
      stream.synchronize();
      return out.host();
    };
    const auto all = of_rows(many);
    for (const std::int64_t rows : {1, 7, 64, 133})
      EXPECT_EQ(of_rows(rows), std::vector(all.begin(), all.begin() + rows * width)) << rows;
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
      const auto at = static_cast<size_t>(r * 2 * width + i / ops::kSwigluTurn * 2 * ops::kSwigluTurn +
                                          i % ops::kSwigluTurn);
      const float gate = both[at], up = both[at + ops::kSwigluTurn];
      exact.push_back(gate / (1 + std::exp(-static_cast<double>(gate))) * up);
      plain.push_back(gate / (1 + std::exp(-gate)) * up);
    }
  }
  ErrorRatio ratio;
  ratio.add(from_bf16(out.host()), rounded(plain), exact);
  ratio.expect_at_most_twice("swiglu");
}

// The same numbers with queries, keys and values in rows of their own give the same bits.
void expect_same_apart(const Stream& stream, ops::DeviceQkvArgs args,
                       const std::vector<std::uint16_t>& states, const std::vector<std::uint16_t>& expected) {
  const std::int64_t query_width = args.heads * args.head_dim, key_width = args.kv_heads * args.head_dim;
  const auto apart = [&](const std::vector<std::uint16_t>& joint) {
    std::vector<std::uint16_t> out;
    const std::int64_t width = query_width + 2 * key_width;
    for (const auto& [first, end] : {std::pair{std::int64_t{0}, query_width},
                                     {query_width, query_width + key_width},
                                     {query_width + key_width, width}}) {
      for (std::int64_t row = 0; row < args.rows; ++row)
        out.insert(out.end(), joint.begin() + row * width + first, joint.begin() + row * width + end);
    }
    return out;
  };
  const DeviceArray<std::uint16_t> qkv(apart(states));
  args.states = ops::qkv_apart(qkv.data(), args.rows, query_width, key_width);
  ops::finish_qkv_cuda(stream, args);
  stream.synchronize();
  EXPECT_EQ(qkv.host(), apart(expected));
}

// Bias, norm, rotation, the copies for caches.
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
    const DeviceArray<std::uint16_t> keys(static_cast<size_t>(24 * kv_heads * dim)),
        values(static_cast<size_t>(24 * kv_heads * dim));
    const DeviceArray<float> b(bias), qn(query_norm), kn(key_norm);
    const DeviceArray<std::int32_t> where(positions), kept(cache_rows), flag(std::vector<std::int32_t>{1000});
    ops::DeviceQkvArgs args{ops::qkv_in_one_row(qkv.data(), heads * dim, kv_heads * dim),
                            rows,
                            heads,
                            kv_heads,
                            dim,
                            {cosines.data(), sines.data(), pairs},
                            where.data()};
    // Some with queries that grow with their position, and a factor on keys.
    const ops::RotaryScales scales =
        dim == 16 || dim == 64 ? ops::RotaryScales{1.25, 0.1, 8} : ops::RotaryScales{};
    std::vector<float> of_query;
    for (std::int64_t p = 0; p < 64; ++p) of_query.push_back(static_cast<float>(scales.of_query(p)));
    const DeviceArray<float> query_scales(of_query);
    if (scales.any()) {
      args.rope.query_scales = query_scales.data();
      args.rope.key_scale = static_cast<float>(scales.of_key());
    }
    args.bias = b.data();
    args.query_norm = qn.data();
    args.key_norm = kn.data();
    args.eps = 1e-6;
    args.cache_rows = kept.data();
    args.cached_keys = keys.data();
    args.cached_values = values.data();
    args.flag = flag.data();
    args.code = 5;
    ops::finish_qkv_cuda(stream, args);
    stream.synchronize();
    EXPECT_EQ(flag.host()[0], 1000);

    const QkvReference reference{heads,    kv_heads,   dim,
                                 bias,     query_norm, key_norm,
                                 args.eps, positions,  {frequencies.begin(), frequencies.end()},
                                 scales};
    const std::vector<double> in_double(states.begin(), states.end());
    const auto exact = reference.finish<double>(in_double);
    const auto plain = reference.finish<float>(states);
    const auto ours = qkv.host();
    expect_same_apart(stream, args, to_bf16(states), ours);
    ErrorRatio after;
    after.add(from_bf16(ours), rounded(plain), exact);
    after.expect_at_most_twice("after");
    const auto cached_keys = keys.host(), cached_values = values.host();
    const auto kv_width = kv_heads * dim;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::uint16_t* row = ours.data() + static_cast<std::int64_t>(width) * r + heads * dim;
      EXPECT_TRUE(std::equal(row, row + kv_width, cached_keys.begin() + (20 - r) * kv_width));
      EXPECT_TRUE(
          std::equal(row + kv_width, row + 2 * kv_width, cached_values.begin() + (20 - r) * kv_width));
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
  ops::DeviceQkvArgs args{ops::qkv_in_one_row(qkv.data(), 16, 16),
                          1,
                          1,
                          1,
                          16,
                          {cosines.data(), sines.data(), 8},
                          positions.data()};
  args.flag = flag.data();
  args.code = 7;
  ops::finish_qkv_cuda(stream, args);
  stream.synchronize();
  EXPECT_EQ(flag.host()[0], 7);
}

}  // namespace
}  // namespace buoy

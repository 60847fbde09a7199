// The small operations that only whole passes use, against the same written plainly.

#include "buoy/ops/pointwise/elementwise_cuda.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/device_array.h"
#include "ops/error_ratio.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using testing::DeviceArray;
using testing::from_bf16;
using testing::normal_numbers;
using testing::to_bf16;

TEST(EmbedCuda, RowsOfTheTable) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const std::int64_t width = 40;
  const auto table = to_bf16(normal_numbers(1, 7 * width));
  const std::vector<std::int32_t> tokens = {6, 0, 3, 3};
  const DeviceArray<std::uint16_t> t(table);
  const DeviceArray<std::int32_t> ids(tokens);
  const DeviceArray<float> out(tokens.size() * static_cast<size_t>(width));
  ops::embed_cuda(stream, {t.data(), ids.data(), 4, width, out.data()});
  stream.synchronize();
  const auto numbers = from_bf16(table), found = out.host();
  for (size_t i = 0; i < found.size(); ++i) {
    const auto token = static_cast<size_t>(tokens[i / static_cast<size_t>(width)]);
    ASSERT_EQ(found[i], numbers[token * static_cast<size_t>(width) + i % static_cast<size_t>(width)]);
  }
}

TEST(ScaleHeadsCuda, EveryHeadByItsFactor) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const std::int64_t rows = 5, heads = 3, dim = 24;
  const auto states = to_bf16(normal_numbers(2, rows * heads * dim));
  const std::vector<float> factors = {0.0f, 1.0f, -2.0f};
  const DeviceArray<std::uint16_t> s(states);
  const DeviceArray<float> f(factors);
  ops::scale_heads_cuda(stream, {s.data(), rows, heads, dim, f.data()});
  stream.synchronize();
  const auto before = from_bf16(states), after = from_bf16(s.host());
  for (size_t i = 0; i < after.size(); ++i)
    ASSERT_EQ(after[i], before[i] * factors[i / static_cast<size_t>(dim) % factors.size()]);
}

TEST(WidenCuda, RowsApart) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const std::int64_t rows = 6, width = 20, stride = 28;
  const auto wide = to_bf16(normal_numbers(3, rows * stride));
  const DeviceArray<std::uint16_t> in(wide);
  const DeviceArray<float> out(static_cast<size_t>(rows * width));
  ops::widen_cuda(stream, {in.data(), rows, width, stride, out.data()});
  stream.synchronize();
  const auto numbers = from_bf16(wide), found = out.host();
  for (std::int64_t i = 0; i < rows * width; ++i)
    ASSERT_EQ(found[static_cast<size_t>(i)], numbers[static_cast<size_t>(i / width * stride + i % width)]);
}

TEST(FindNonFiniteCuda, LowersTheFlagOnce) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  for (const float bad : {0.0f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> values = normal_numbers(4, 1000);
    if (bad != 0.0f) values[777] = bad;
    const DeviceArray<float> v(values);
    const DeviceArray<std::int32_t> flag(std::vector<std::int32_t>{100});
    ops::find_non_finite_cuda(stream, v.data(), 1000, flag.data(), 7);
    stream.synchronize();
    EXPECT_EQ(flag.host()[0], bad == 0.0f ? 100 : 7) << bad;
  }
}

TEST(FillNormalCuda, DeviationAndSeed) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const std::int64_t count = 10001;
  const auto drawn = [&](std::uint64_t seed) {
    const DeviceArray<std::uint16_t> out(static_cast<size_t>(count));
    ops::fill_normal_cuda(stream, out.data(), count, seed, 0.5);
    stream.synchronize();
    return from_bf16(out.host());
  };
  const auto numbers = drawn(1);
  double sum = 0, squares = 0;
  for (const float x : numbers) sum += x, squares += static_cast<double>(x) * x;
  // Four standard errors.
  EXPECT_NEAR(sum / static_cast<double>(count), 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(count)), 0.5, 0.015);
  EXPECT_EQ(drawn(1), numbers);
  EXPECT_NE(drawn(2), numbers);
}

}  // namespace
}  // namespace buoy

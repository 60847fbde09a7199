// The GPU's matrix products of few rows (references/linear_product.h), where the kernel for them runs.

#include <gtest/gtest.h>

#include "buoy/tensor/stream.h"
#include "ops/references/linear_product.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using ops::LinearChoice;
using ops::LinearOutput;
using testing::DeviceArray;
using testing::expect_small_errors;
using testing::normal_numbers;
using testing::Product;
using testing::to_bf16;
using Shape = testing::ProductShape;

TEST(LinearFewRowsCuda, SmallErrors) {
  BUOY_NEEDS_GPU();
  // Inputs for one block of a cluster only and for both; tiles that end within 16 and within 64 rows of the
  // weight; and one after the other.
  for (const Shape& shape : {Shape{1, 64, 96},
                             {7, 776, 1000},
                             {8, 4096, 128},
                             {16, 40, 64},
                             {31, 520, 208},
                             {32, 2048, 1032},
                             {33, 1000, 4112},
                             {64, 512, 384},
                             {64, 200, 8},
                             {33, 136, 16400},
                             {5, 72, 40016}})
    expect_small_errors(LinearChoice::kFewRows, shape);
}

// The bits of a row do not depend on which others come with it, and not on the moment.
TEST(LinearFewRowsCuda, RowsAloneAndAlwaysTheSame) {
  BUOY_NEEDS_GPU();
  const std::int64_t outputs = 9232;
  const Product product({64, 1480, outputs}, 5);
  const auto expect_same = [&]<typename T>(LinearOutput kind, T) {
    const std::int64_t columns = kind == LinearOutput::kSwiglu ? outputs / 2 : outputs;
    const auto all = product.run<T>(LinearChoice::kFewRows, kind);
    for (int again = 0; again < 10; ++again) ASSERT_EQ(product.run<T>(LinearChoice::kFewRows, kind), all);
    for (const auto& [first, rows] :
         {std::pair{0, 1}, {1, 7}, {9, 8}, {0, 16}, {0, 17}, {31, 31}, {30, 32}, {5, 50}, {63, 1}}) {
      SCOPED_TRACE(std::to_string(first) + " + " + std::to_string(rows));
      const auto begin = all.begin() + first * columns;
      EXPECT_EQ(product.run<T>(LinearChoice::kFewRows, kind, first, rows),
                std::vector<T>(begin, begin + rows * columns));
    }
  };
  expect_same(LinearOutput::kBf16, std::uint16_t{});
  expect_same(LinearOutput::kFloat, float{});
  expect_same(LinearOutput::kAddFloat, float{});
  expect_same(LinearOutput::kSwiglu, std::uint16_t{});
}

TEST(LinearFewRowsCuda, AddsOnce) {
  BUOY_NEEDS_GPU();
  const Product product({33, 776, 1000}, 6);
  const auto alone = product.run<float>(LinearChoice::kFewRows, LinearOutput::kFloat);
  const auto added = product.run<float>(LinearChoice::kFewRows, LinearOutput::kAddFloat);
  for (size_t i = 0; i < alone.size(); ++i) ASSERT_EQ(added[i], product.residual[i] + alone[i]) << i;
}

// Nothing is written beside the output.
TEST(LinearFewRowsCuda, WritesNothingElse) {
  BUOY_NEEDS_GPU();
  const Product product({5, 136, 1000}, 11);
  const Stream stream;
  ops::DeviceLinear linear;
  linear.choose(LinearChoice::kFewRows);
  const size_t size = product.size(), room = 8 * 1024;
  const DeviceArray<std::uint16_t> out(size + room);
  linear.multiply(stream,
                  {product.x.data(), 5, product.w.data(), 136, 1000, out.data(), LinearOutput::kBf16});
  stream.synchronize();
  const auto numbers = out.host();
  for (size_t i = size; i < size + room; ++i) ASSERT_EQ(numbers[i], 0xffff) << i;
}

// What an MLP adds to a residual stream, each product beginning while the one in front ends: the bits are
// those of one at a time.
class Mlp {
 public:
  Mlp(std::int64_t rows, std::uint64_t seed)
      : rows_(rows),
        gate_up_(to_bf16(normal_numbers(seed, 2 * kWidth * kHidden, 0.03))),
        down_(to_bf16(normal_numbers(seed + 1, kWidth * kHidden, 0.02))),
        last_(to_bf16(normal_numbers(seed + 2, kHidden * kHidden, 0.03))),
        input_(count(kHidden)),
        activated_(count(kWidth)),
        scratch_(count(2 * kWidth)),
        residual_(count(kHidden)),
        output_(count(kHidden)) {
    linear_.choose(LinearChoice::kFewRows);
  }

  // The output is the next input, and the residual stream stays in place.
  void queue(const Stream& stream, int times, bool one_at_a_time) {
    for (int i = 0; i < times; ++i) {
      const auto multiply = [&](const DeviceArray<std::uint16_t>& from,
                                const DeviceArray<std::uint16_t>& weight, std::int64_t inputs,
                                std::int64_t outputs, void* to, LinearOutput kind) {
        linear_.multiply(stream,
                         {from.data(), rows_, weight.data(), inputs, outputs, to, kind, scratch_.data()});
        if (one_at_a_time) stream.synchronize();
      };
      multiply(input_, gate_up_, kHidden, 2 * kWidth, activated_.data(), LinearOutput::kSwiglu);
      multiply(activated_, down_, kWidth, kHidden, residual_.data(), LinearOutput::kAddFloat);
      multiply(input_, last_, kHidden, kHidden, output_.data(), LinearOutput::kBf16);
      multiply(output_, last_, kHidden, kHidden, input_.data(), LinearOutput::kBf16);
    }
  }

  void start(const Stream& stream, std::uint64_t seed) {
    const auto numbers = to_bf16(normal_numbers(seed, rows_ * kHidden));
    copy_to_device(stream, input_.data(), numbers.data(), numbers.size() * sizeof(std::uint16_t));
    fill_bytes(stream, residual_.data(), 0, count(kHidden) * sizeof(float));
    stream.synchronize();
  }
  std::vector<float> residual() const { return residual_.host(); }

 private:
  static constexpr std::int64_t kHidden = 1024, kWidth = 3080;
  size_t count(std::int64_t width) const { return static_cast<size_t>(rows_ * width); }

  std::int64_t rows_;
  DeviceArray<std::uint16_t> gate_up_, down_, last_, input_, activated_, scratch_;
  DeviceArray<float> residual_;
  DeviceArray<std::uint16_t> output_;
  ops::DeviceLinear linear_;
};

TEST(LinearFewRowsCuda, OneAfterTheOther) {
  BUOY_NEEDS_GPU();
  constexpr int kTimes = 20;
  for (const std::int64_t rows : {1, 13, 32, 64}) {
    SCOPED_TRACE(std::to_string(rows) + " rows");
    const Stream stream;
    Mlp mlp(rows, 70);
    for (const std::uint64_t seed : {1, 2}) {
      mlp.start(stream, seed);
      mlp.queue(stream, kTimes, true);
      const auto expected = mlp.residual();
      mlp.start(stream, seed);
      mlp.queue(stream, kTimes, false);
      stream.synchronize();
      EXPECT_EQ(mlp.residual(), expected);
    }
    const Graph graph(stream, [&] { mlp.queue(stream, kTimes, false); });
    for (const std::uint64_t seed : {3, 4, 5}) {
      mlp.start(stream, seed);
      mlp.queue(stream, kTimes, true);
      const auto expected = mlp.residual();
      mlp.start(stream, seed);
      graph.launch(stream);
      stream.synchronize();
      EXPECT_EQ(mlp.residual(), expected);
    }
  }
}

}  // namespace
}  // namespace buoy

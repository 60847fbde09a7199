// The GPU's matrix products against a reference in double, by the library and by the kernel for Hopper
// (references/linear_product.h).

#include <gtest/gtest.h>

#include <algorithm>

#include "buoy/ops/pointwise/rope.h"
#include "buoy/ops/pointwise/rope_cuda.h"
#include "ops/references/linear_product.h"
#include "ops/references/qkv_reference.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using ops::LinearChoice;
using ops::LinearOutput;
using testing::DeviceArray;
using testing::ErrorRatio;
using testing::expect_small_errors;
using testing::from_bf16;
using testing::normal_numbers;
using testing::Product;
using testing::QkvReference;
using testing::rounded;
using testing::to_bf16;
using Shape = testing::ProductShape;

TEST(LinearCuda, Library) {
  BUOY_NEEDS_GPU();
  for (const Shape& shape : {Shape{1, 64, 96}, {3, 32, 100}, {17, 40, 64}, {128, 512, 384}, {300, 1024, 72}})
    expect_small_errors(LinearChoice::kLibrary, shape);
}

TEST(LinearCuda, OwnKernel) {
  BUOY_NEEDS_GPU();
  for (const Shape& shape :
       {Shape{1, 64, 96}, {17, 40, 64}, {128, 512, 384}, {130, 200, 528}, {300, 1024, 72}})
    expect_small_errors(LinearChoice::kOwn, shape);
}

// Gates up to where exp() leaves the range of floats. Only the first input is not zero, so that a row of the
// weight is a gate, or what it is multiplied by.
TEST(LinearCuda, SiluOfGatesOfAnySize) {
  BUOY_NEEDS_GPU();
  constexpr std::int64_t kInputs = 8, kTurn = ops::kSwigluTurn;
  const std::vector<float> gates = rounded(
      std::vector<float>{0,     1e-30f, 0.0078125f, 1,   -1, 5.5f, -5.5f, 17,  30,    -30,    -60,   -86,
                         86.5f, 88.5f,  -88.5f,     -90, 96, -104, -200,  200, 1e20f, -1e20f, 1e38f, -1e38f});
  const auto turns = static_cast<std::int64_t>(gates.size()) / kTurn;
  std::vector<float> input(kInputs), weight(static_cast<size_t>(2 * turns * kTurn * kInputs));
  input[0] = 1;
  for (std::int64_t i = 0; i < turns * kTurn; ++i) {
    const auto row = static_cast<size_t>((i / kTurn * 2 * kTurn + i % kTurn) * kInputs);
    weight[row] = gates[static_cast<size_t>(i)];
    weight[row + kTurn * kInputs] = i % 2 == 0 ? 1.5f : -0.75f;
  }
  const DeviceArray<std::uint16_t> x(to_bf16(input)), w(to_bf16(weight));
  const DeviceArray<std::uint16_t> scratch(static_cast<size_t>(2 * turns * kTurn));
  for (const LinearChoice choice : {LinearChoice::kLibrary, LinearChoice::kOwn, LinearChoice::kFewRows}) {
    SCOPED_TRACE(static_cast<int>(choice));
    const Stream stream;
    const DeviceArray<std::uint16_t> out(gates.size());
    ops::DeviceLinear linear;
    linear.choose(choice);
    linear.multiply(stream, {x.data(), 1, w.data(), kInputs, 2 * turns * kTurn, out.data(),
                             LinearOutput::kSwiglu, scratch.data()});
    stream.synchronize();
    const auto found = from_bf16(out.host());
    for (size_t i = 0; i < gates.size(); ++i) {
      const double gate = gates[i], up = i % 2 == 0 ? 1.5 : -0.75,
                   expected = gate / (1 + std::exp(-gate)) * up;
      EXPECT_NEAR(found[i], expected, std::abs(expected) / 256 + 1e-35) << "gate " << gate;
    }
  }
}

// A row's result is the same bits alone, among others and anywhere in a tile.
TEST(LinearCuda, OwnKernelSeesRowsAlone) {
  BUOY_NEEDS_GPU();
  const Product product({517, 320, 544}, 5);
  const auto expect_same = [&]<typename T>(LinearOutput kind, T) {
    const std::int64_t columns = kind == LinearOutput::kSwiglu ? 272 : 544;
    const auto all = product.run<T>(LinearChoice::kOwn, kind);
    for (const auto& [first, rows] : {std::pair{0, 1}, {0, 129}, {63, 2}, {200, 257}, {516, 1}}) {
      SCOPED_TRACE(std::to_string(first) + " + " + std::to_string(rows));
      const auto begin = all.begin() + first * columns;
      EXPECT_EQ(product.run<T>(LinearChoice::kOwn, kind, first, rows),
                std::vector<T>(begin, begin + rows * columns));
    }
  };
  expect_same(LinearOutput::kBf16, std::uint16_t{});
  expect_same(LinearOutput::kFloat, float{});
  expect_same(LinearOutput::kAddFloat, float{});
  expect_same(LinearOutput::kSwiglu, std::uint16_t{});
}

// Enough rows and columns for tall tiles: the bits are those of few rows, which go through wide ones.
TEST(LinearCuda, OwnKernelInTallTiles) {
  BUOY_NEEDS_GPU();
  // Whole tiles; one that ends inside of a block's; and one that leaves a cluster's second block nothing.
  for (const std::int64_t outputs : {3456, 3376, 3584}) {
    const Product product({1100, 320, outputs}, 9);
    const std::int64_t columns = outputs / 2;
    const auto all = product.run<std::uint16_t>(LinearChoice::kOwn, LinearOutput::kSwiglu);
    for (const auto& [first, rows] : {std::pair{0, 300}, {300, 257}, {557, 299}, {856, 243}, {1099, 1}}) {
      SCOPED_TRACE(std::to_string(outputs) + ": " + std::to_string(first) + " + " + std::to_string(rows));
      const auto begin = all.begin() + first * columns;
      EXPECT_EQ(product.run<std::uint16_t>(LinearChoice::kOwn, LinearOutput::kSwiglu, first, rows),
                std::vector<std::uint16_t>(begin, begin + rows * columns));
    }
  }
}

// The sum is the float sum of the product and what was there: added once, rounded once.
TEST(LinearCuda, OwnKernelAddsOnce) {
  BUOY_NEEDS_GPU();
  // The second is added in tall and in wide tiles.
  for (const Shape& shape : {Shape{333, 192, 392}, {4090, 72, 4096}}) {
    SCOPED_TRACE(std::to_string(shape.rows) + " rows");
    const Product product(shape, 6);
    const auto alone = product.run<float>(LinearChoice::kOwn, LinearOutput::kFloat);
    const auto added = product.run<float>(LinearChoice::kOwn, LinearOutput::kAddFloat);
    for (size_t i = 0; i < alone.size(); ++i) ASSERT_EQ(added[i], product.residual[i] + alone[i]) << i;
  }
}

// Thread blocks that take several tiles one after the other: the bits are those of a few columns alone.
TEST(LinearCuda, OwnKernelOfManyTiles) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const std::int64_t rows = 600, inputs = 40, outputs = 290 * 256, few = 3 * 256, first = 144 * 256;
  const DeviceArray<std::uint16_t> x(static_cast<size_t>(rows * inputs)),
      w(static_cast<size_t>(outputs * inputs));
  ops::fill_normal_cuda(stream, x.data(), rows * inputs, 1, 1.0);
  ops::fill_normal_cuda(stream, w.data(), outputs * inputs, 2, 0.2);
  ops::DeviceLinear linear;
  linear.choose(LinearChoice::kOwn);
  for (const auto kind : {LinearOutput::kBf16, LinearOutput::kSwiglu}) {
    const std::int64_t share = kind == LinearOutput::kSwiglu ? 2 : 1;
    const auto run = [&](const std::uint16_t* weight, std::int64_t columns) {
      const DeviceArray<std::uint16_t> out(static_cast<size_t>(rows * columns / share));
      linear.multiply(stream, {x.data(), rows, weight, inputs, columns, out.data(), kind});
      stream.synchronize();
      return out.host();
    };
    const auto all = run(w.data(), outputs), part = run(w.data() + first * inputs, few);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto from = all.begin() + (row * outputs + first) / share, to = part.begin() + row * few / share;
      ASSERT_TRUE(std::equal(to, to + few / share, from)) << "row " << row;
    }
  }
}

// Bias, norms and rotation on the way out, and queries, keys and values apart, with rows before and behind a
// tile's end and heads that share keys.
TEST(LinearCuda, OwnKernelFinishesQkv) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  ops::DeviceLinear linear;
  linear.choose(LinearChoice::kOwn);
  for (const std::int64_t dim : {64, 128}) {
    for (const bool plain_heads : {true, false}) {
      SCOPED_TRACE(std::to_string(dim) + (plain_heads ? "" : ", bias and norms"));
      const std::int64_t rows = 141, heads = 5, kv_heads = 2, width = (heads + 2 * kv_heads) * dim,
                         pairs = dim / 2;
      const auto frequencies = ops::rope_frequencies(10000, dim, std::nullopt);
      QkvReference reference{
          heads, kv_heads, dim, {}, {}, {}, 1e-6, {}, {frequencies.begin(), frequencies.end()}};
      if (!plain_heads) {
        reference.bias = normal_numbers(31, width);
        reference.query_norm = normal_numbers(32, dim);
        reference.key_norm = normal_numbers(33, dim);
        reference.scales = {1.25, 0.1, 16};
      }
      std::vector<float> of_query;
      for (std::int64_t p = 0; p < 200; ++p)
        of_query.push_back(static_cast<float>(reference.scales.of_query(p)));
      const DeviceArray<float> query_scales(of_query);
      for (std::int32_t r = 0; r < rows; ++r) reference.positions.push_back((7 * r + 3) % 200);
      ops::RopeTable table(frequencies);
      table.grow(200);
      const DeviceArray<float> cosines(std::span(table.cosines(0), static_cast<size_t>(200 * pairs))),
          sines(std::span(table.sines(0), static_cast<size_t>(200 * pairs))), bias(reference.bias),
          query_norm(reference.query_norm), key_norm(reference.key_norm);
      const DeviceArray<std::int32_t> positions(reference.positions), flag(std::vector<std::int32_t>{1000});
      const Product product({rows, 192, width}, 8);
      const DeviceArray<std::uint16_t> out(product.size());
      ops::DeviceQkvArgs qkv{ops::qkv_apart(out.data(), rows, heads * dim, kv_heads * dim),
                             rows,
                             heads,
                             kv_heads,
                             dim,
                             {cosines.data(), sines.data(), pairs},
                             positions.data()};
      if (reference.scales.any()) {
        qkv.rope.query_scales = query_scales.data();
        qkv.rope.key_scale = static_cast<float>(reference.scales.of_key());
      }
      qkv.bias = plain_heads ? nullptr : bias.data();
      qkv.query_norm = plain_heads ? nullptr : query_norm.data();
      qkv.key_norm = plain_heads ? nullptr : key_norm.data();
      qkv.eps = reference.eps;
      qkv.flag = flag.data();
      qkv.code = 4;
      const ops::DeviceLinearArgs args{.input = product.x.data(),
                                       .rows = rows,
                                       .weight = product.w.data(),
                                       .inputs = 192,
                                       .outputs = width,
                                       .output = out.data(),
                                       .kind = LinearOutput::kQkv,
                                       .qkv = &qkv};
      if (!linear.finishes_qkv(args)) GTEST_SKIP() << "the kernel needs a Hopper GPU";
      linear.multiply(stream, args);
      stream.synchronize();
      EXPECT_EQ(flag.host()[0], 1000);

      // The product itself is tested above: here it is what the kernel starts from.
      const auto states = product.run<float>(LinearChoice::kOwn, LinearOutput::kFloat);
      const auto exact = reference.finish<double>(std::vector<double>(states.begin(), states.end()));
      const auto plain = rounded(reference.finish<float>(states));
      const auto ours = from_bf16(out.host());
      std::vector<float> joint;
      const ops::QkvPlaces at = qkv.states;
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto take = [&](const std::uint16_t* first, std::int64_t stride, std::int64_t count) {
          const auto begin = ours.begin() + (first - at.queries) + r * stride;
          joint.insert(joint.end(), begin, begin + count);
        };
        take(at.queries, at.query_stride, heads * dim);
        take(at.keys, at.key_stride, kv_heads * dim);
        take(at.values, at.key_stride, kv_heads * dim);
      }
      ErrorRatio ratio;
      ratio.add(joint, plain, exact);
      ratio.expect_at_most_twice("finished");
    }
  }
}

}  // namespace
}  // namespace buoy

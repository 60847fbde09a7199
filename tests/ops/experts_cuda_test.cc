// Experts on the GPU against the reference in double of experts.h. Numbers by the rule of error_ratio.h; the
// plain version computes in float and rounds where the GPU stores bf16.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "ops/device_array.h"
#include "ops/error_ratio.h"
#include "ops/references/routed_pairs.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using ops::ExpertsChoice;
using testing::choices;
using testing::DeviceArray;
using testing::ErrorRatio;
using testing::Ids;
using testing::normal_numbers;
using testing::rounded;
using testing::Sorted;
using testing::sorted_by_card;
using testing::to_bf16;

struct Shape {
  std::int64_t rows, hidden, width, experts, chosen;
};

// One expert for each row: so many rows for each expert, mixed.
Ids choices_of_loads(const Ids& loads, std::uint64_t seed) {
  Ids out;
  for (size_t e = 0; e < loads.size(); ++e)
    out.insert(out.end(), static_cast<size_t>(loads[e]), static_cast<std::int32_t>(e));
  std::shuffle(out.begin(), out.end(), std::mt19937_64(seed));
  return out;
}

struct Mixture {
  Mixture(const Shape& s, std::uint64_t seed)
      : Mixture(s, seed, choices(s.rows, s.experts, s.chosen, 10 * seed + 6)) {}
  Mixture(const Shape& s, std::uint64_t seed, Ids experts)
      : shape(s),
        input(rounded(normal_numbers(10 * seed + 1, s.rows * s.hidden))),
        gate(rounded(normal_numbers(10 * seed + 2, s.experts * s.width * s.hidden, 1 / std::sqrt(s.hidden)))),
        up(rounded(normal_numbers(10 * seed + 3, s.experts * s.width * s.hidden, 1 / std::sqrt(s.hidden)))),
        down(rounded(normal_numbers(10 * seed + 4, s.experts * s.width * s.hidden, 1 / std::sqrt(s.width)))),
        residual(normal_numbers(10 * seed + 5, s.rows * s.hidden)),
        routed(std::move(experts)) {
    for (const float one : normal_numbers(10 * seed + 7, s.rows * s.chosen)) weights.push_back(std::abs(one));
    // Rows of gate and up in turn.
    for (std::int64_t first = 0; first < s.experts * s.width; first += ops::kSwigluTurn) {
      for (const auto* matrix : {&gate, &up}) {
        gate_up.insert(gate_up.end(), matrix->begin() + first * s.hidden,
                       matrix->begin() + (first + ops::kSwigluTurn) * s.hidden);
      }
    }
  }

  // Rows [begin, end) on the card.
  std::vector<float> run(ExpertsChoice choice, std::int64_t begin, std::int64_t end) const {
    const std::int64_t rows = end - begin, k = shape.chosen;
    const auto part = [&](const auto& values, std::int64_t width) {
      return std::vector(values.begin() + begin * width, values.begin() + end * width);
    };
    const DeviceArray<std::uint16_t> x(to_bf16(part(input, shape.hidden))), both(to_bf16(gate_up)),
        last(to_bf16(down)), returned(static_cast<size_t>(rows * k * shape.hidden)),
        activated(static_cast<size_t>(rows * k * shape.width));
    const Sorted sorted = sorted_by_card(part(routed, k), shape.experts, k);
    const DeviceArray<float> shares(part(weights, k)), out(part(residual, shape.hidden));
    const Stream stream;
    ops::experts_cuda(stream,
                      {.input = x.data(),
                       .rows = rows,
                       .hidden = shape.hidden,
                       .experts = shape.experts,
                       .chosen = k,
                       .width = shape.width,
                       .gate_up = both.data(),
                       .down = last.data(),
                       .pairs = sorted.pairs(),
                       .weights = shares.data(),
                       .activated = activated.data(),
                       .returned = returned.data(),
                       .output = out.data()},
                      choice);
    stream.synchronize();
    return out.host();
  }

  template <typename T>
  std::vector<T> on_host() const {
    constexpr bool kPlain = std::is_same_v<T, float>;
    const auto round = [](T value) {
      return kPlain ? static_cast<T>(bf16_to_float(float_to_bf16(static_cast<float>(value)))) : value;
    };
    std::vector<T> out(residual.begin(), residual.end());
    std::vector<T> middle(static_cast<size_t>(shape.width));
    for (std::int64_t pair = 0; pair < shape.rows * shape.chosen; ++pair) {
      const std::int64_t row = pair / shape.chosen, expert = routed[static_cast<size_t>(pair)];
      const float* x = input.data() + row * shape.hidden;
      const auto dot = [&](const float* weight, const auto* values, std::int64_t count) {
        T sum = 0;
        for (std::int64_t i = 0; i < count; ++i) sum += static_cast<T>(weight[i]) * static_cast<T>(values[i]);
        return sum;
      };
      for (std::int64_t j = 0; j < shape.width; ++j) {
        const std::int64_t at = (expert * shape.width + j) * shape.hidden;
        const T g = dot(gate.data() + at, x, shape.hidden), u = dot(up.data() + at, x, shape.hidden);
        middle[static_cast<size_t>(j)] = round(g / (1 + std::exp(-g)) * u);
      }
      for (std::int64_t j = 0; j < shape.hidden; ++j) {
        const T returned =
            round(dot(down.data() + (expert * shape.hidden + j) * shape.width, middle.data(), shape.width));
        out[static_cast<size_t>(row * shape.hidden + j)] +=
            static_cast<T>(weights[static_cast<size_t>(pair)]) * returned;
      }
    }
    return out;
  }

  Shape shape;
  std::vector<float> input, gate, up, down, residual, gate_up, weights;
  Ids routed;
};

// On average 1, 3, 11, 24, 40, 75, 230, 330 and 600 rows an expert: every kind of Hopper's kernel.
std::vector<Shape> shapes() {
  return {{1, 64, 32, 4, 1},    {5, 72, 40, 8, 3},     {90, 128, 96, 32, 4}, {48, 200, 24, 4, 2},
          {80, 64, 136, 4, 2},  {150, 136, 160, 6, 3}, {460, 64, 264, 4, 2}, {660, 72, 136, 4, 2},
          {1200, 64, 64, 4, 2}, {3, 512, 384, 128, 8}, {260, 64, 64, 128, 8}};
}

TEST(ExpertsCuda, SmallErrors) {
  BUOY_NEEDS_GPU();
  for (const ExpertsChoice choice : {ExpertsChoice::kGeneral, ExpertsChoice::kByShape}) {
    for (const Shape& shape : shapes()) {
      SCOPED_TRACE(std::to_string(shape.rows) + " rows of " + std::to_string(shape.hidden) + ", " +
                   std::to_string(shape.experts) + " experts of " + std::to_string(shape.width) +
                   (choice == ExpertsChoice::kGeneral ? ", general" : ", by shape"));
      ErrorRatio errors;
      for (std::uint64_t seed = 0; !errors.enough(); ++seed) {
        const Mixture mixture(shape, seed);
        errors.add(mixture.run(choice, 0, shape.rows), mixture.on_host<float>(), mixture.on_host<double>());
      }
      errors.expect_at_most_twice("experts");
    }
  }
}

// Rows for each expert: around the ends of all widths of Hopper's tiles, of one kernel after the other;
// nobody for an expert, and everybody.
std::vector<Ids> uneven_loads() {
  return {{0, 1, 7, 8, 9, 15, 16, 17, 33, 2, 0, 3},
          {0, 1, 16, 17, 32, 33, 48, 49, 63, 64, 65, 129, 8},
          {0,   1,   64,  65,  80,  81,  96,  97,  104, 105, 112, 113,
           120, 121, 128, 129, 136, 137, 144, 145, 151, 152, 153, 305},
          {1,   8,   9,   16,  17,  160, 161, 192, 193, 208, 209, 224, 225, 240, 241, 256,
           257, 272, 273, 288, 289, 303, 304, 305, 320, 0,   321, 608, 609, 913, 0},
          {0, 0, 700, 0},
          {0, 0, 0, 0, 0, 0, 0, 0, 0, 41},
          {1}};
}

TEST(ExpertsCuda, UnevenLoads) {
  BUOY_NEEDS_GPU();
  std::uint64_t seed = 0;
  for (const Ids& loads : uneven_loads()) {
    SCOPED_TRACE(std::to_string(loads.size()) + " experts");
    const Shape shape{std::accumulate(loads.begin(), loads.end(), std::int64_t{0}), 200, 40,
                      std::ssize(loads), 1};
    ErrorRatio errors;
    for (bool first = true; !errors.enough(); first = false) {
      ++seed;
      const Mixture mixture(shape, seed, choices_of_loads(loads, seed));
      const auto found = mixture.run(ExpertsChoice::kByShape, 0, shape.rows);
      errors.add(found, mixture.on_host<float>(), mixture.on_host<double>());
      if (!first) continue;
      // Half of the rows: other tiles, and the same bits.
      const std::int64_t half = (shape.rows + 1) / 2;
      const auto part = mixture.run(ExpertsChoice::kByShape, 0, half);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), found.begin()));
    }
    errors.expect_at_most_twice("experts");
  }
}

// The other rows change which tiles there are, and nothing else.
TEST(ExpertsCuda, ARowAloneHasTheBitsOfARowAmongOthers) {
  BUOY_NEEDS_GPU();
  for (const ExpertsChoice choice : {ExpertsChoice::kGeneral, ExpertsChoice::kByShape}) {
    for (const Shape& shape : {Shape{460, 64, 264, 4, 2}, {150, 136, 160, 6, 3}}) {
      const Mixture mixture(shape, 3);
      const auto all = mixture.run(choice, 0, shape.rows);
      for (const auto& [begin, end] : {std::pair<std::int64_t, std::int64_t>{0, 1}, {17, 40}, {60, 140}}) {
        const auto part = mixture.run(choice, begin, end);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + begin * shape.hidden)) << begin;
      }
    }
  }
}

TEST(ExpertsCuda, TwiceTheSameBits) {
  BUOY_NEEDS_GPU();
  const Mixture mixture({460, 64, 264, 4, 2}, 4);
  EXPECT_EQ(mixture.run(ExpertsChoice::kByShape, 0, 460), mixture.run(ExpertsChoice::kByShape, 0, 460));
}

}  // namespace
}  // namespace buoy

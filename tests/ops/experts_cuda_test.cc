// Routers and experts on the GPU against the references in double of experts.h. Numbers by the rule of
// error_ratio.h; the plain version computes in float and rounds where the GPU stores bf16.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "ops/device_array.h"
#include "ops/error_ratio.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using ops::ExpertsChoice;
using ops::RouterKind;
using ops::RouterRule;
using testing::DeviceArray;
using testing::ErrorRatio;
using testing::from_bf16;
using testing::normal_numbers;
using testing::rounded;
using testing::to_bf16;

using Ids = std::vector<std::int32_t>;

struct Decided {
  Ids experts;
  std::vector<float> weights, entropy;
  std::int32_t flag;
};

Decided decide(const RouterRule& rule, std::int64_t rows, std::int64_t parts,
               const std::vector<float>& logits, const std::vector<float>& bias) {
  const auto pairs = static_cast<size_t>(rows * rule.chosen);
  const DeviceArray<float> on_card(logits), steering(bias);
  const DeviceArray<std::int32_t> experts(pairs), flag(Ids{99});
  const DeviceArray<float> weights(pairs), entropy(static_cast<size_t>(rows));
  const Stream stream;
  ops::route_cuda(stream, rule,
                  {.logits = on_card.data(),
                   .rows = rows,
                   .parts = parts,
                   .bias = bias.empty() ? nullptr : steering.data(),
                   .experts = experts.data(),
                   .weights = weights.data(),
                   .entropy = entropy.data(),
                   .flag = flag.data(),
                   .code = 7});
  stream.synchronize();
  return {experts.host(), weights.host(), entropy.host(), flag.host()[0]};
}

std::vector<RouterRule> rules() {
  return {{RouterKind::kSoftmax, 4, 2, false},
          {RouterKind::kSoftmax, 128, 8, true},
          {RouterKind::kSoftmax, 60, 4, false},
          {RouterKind::kSoftmax, 33, 32, true},
          {RouterKind::kSoftmax, 512, 10, true},
          {RouterKind::kSigmoidGroups, 8, 2, false, 4, 2, 2.5},
          {RouterKind::kSigmoidGroups, 256, 8, false, 8, 4, 2.5},
          {RouterKind::kSigmoidGroups, 384, 6, false, 4, 2, 1.0},
          {RouterKind::kSigmoidGroups, 192, 6, false, 2, 1, 1.0},
          {RouterKind::kSigmoidGroups, 66, 5, false, 3, 2, 1.0},
          {RouterKind::kSigmoidGroups, 64, 1, false, 32, 3, 1.5}};
}

TEST(RouteCuda, DecidesAsTheReference) {
  BUOY_NEEDS_GPU();
  constexpr std::int64_t kRows = 131;
  for (const bool biased : {false, true}) {
    ErrorRatio weights, entropy;
    for (const RouterRule& rule : rules()) {
      SCOPED_TRACE(std::to_string(rule.experts) + (biased ? " experts, bias" : " experts"));
      const auto logits = normal_numbers(1, kRows * rule.experts, 2);
      const auto bias = biased ? normal_numbers(2, rule.experts, 0.1) : std::vector<float>();
      const Decided found = decide(rule, kRows, 1, logits, bias);
      EXPECT_EQ(found.flag, 99);
      Ids experts(found.experts.size());
      std::vector<double> exact(experts.size()), exact_entropy(kRows);
      for (std::int64_t row = 0; row < kRows; ++row) {
        const std::vector<double> own(logits.begin() + row * rule.experts,
                                      logits.begin() + (row + 1) * rule.experts);
        ops::route_reference(rule, own.data(), biased ? bias.data() : nullptr,
                             {experts.data() + row * rule.chosen, exact.data() + row * rule.chosen,
                              exact_entropy.data() + row});
      }
      EXPECT_EQ(found.experts, experts);
      // Plain: what the CPU computes in float.
      Ids on_cpu(found.experts.size());
      std::vector<float> plain(on_cpu.size()), plain_entropy(kRows);
      ThreadPool threads(1);
      ops::route({threads}, rule,
                 {logits.data(),
                  kRows,
                  biased ? bias.data() : nullptr,
                  {on_cpu.data(), plain.data(), plain_entropy.data()}});
      weights.add(found.weights, plain, exact);
      entropy.add(found.entropy, plain_entropy, exact_entropy);
    }
    weights.expect_at_most_twice("weights");
    entropy.expect_at_most_twice("entropy");
  }
}

TEST(RouteCuda, EqualLogitsGoToTheLowerExpert) {
  BUOY_NEEDS_GPU();
  for (const RouterRule& rule : rules()) {
    const Decided found =
        decide(rule, 2, 1, std::vector<float>(static_cast<size_t>(2 * rule.experts), 0.5f), {});
    for (std::int64_t row = 0; row < 2; ++row) {
      for (std::int64_t n = 0; n < rule.chosen; ++n)
        EXPECT_EQ(found.experts[static_cast<size_t>(row * rule.chosen + n)], n) << rule.experts;
    }
  }
}

TEST(RouteCuda, PartsAreSummed) {
  BUOY_NEEDS_GPU();
  const RouterRule rule{RouterKind::kSoftmax, 16, 3, true};
  const auto whole = normal_numbers(3, 5 * 16);
  std::vector<float> parts;
  for (size_t row = 0; row < 5; ++row) {
    for (size_t e = 0; e < 16; ++e) parts.push_back(whole[row * 16 + e] * 0.75f);
    for (size_t e = 0; e < 16; ++e) parts.push_back(whole[row * 16 + e] * 0.25f);
  }
  const Decided one = decide(rule, 5, 1, whole, {}), two = decide(rule, 5, 2, parts, {});
  EXPECT_EQ(one.experts, two.experts);
  for (size_t i = 0; i < one.weights.size(); ++i) EXPECT_NEAR(one.weights[i], two.weights[i], 1e-6);
}

TEST(RouteCuda, LogitsThatAreNotFiniteAreSaid) {
  BUOY_NEEDS_GPU();
  const RouterRule rule{RouterKind::kSoftmax, 8, 2, true};
  for (const float bad : {std::nanf(""), INFINITY, -INFINITY}) {
    auto logits = normal_numbers(4, 3 * 8);
    logits[13] = bad;
    const Decided found = decide(rule, 3, 1, logits, {});
    EXPECT_EQ(found.flag, 7);
    for (const auto expert : found.experts) EXPECT_TRUE(expert >= 0 && expert < 8);
  }
}

// Experts that rows choose, some of them none; slots of a row differ.
Ids choices(std::int64_t rows, std::int64_t experts, std::int64_t chosen, std::uint64_t seed) {
  const auto numbers = normal_numbers(seed, rows * experts);
  Ids out;
  for (std::int64_t row = 0; row < rows; ++row) {
    Ids order(static_cast<size_t>(experts));
    for (std::int64_t e = 0; e < experts; ++e) order[static_cast<size_t>(e)] = static_cast<std::int32_t>(e);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
      return numbers[static_cast<size_t>(row * experts + a)] >
             numbers[static_cast<size_t>(row * experts + b)];
    });
    out.insert(out.end(), order.begin(), order.begin() + chosen);
  }
  return out;
}

struct Sorted {
  explicit Sorted(const Ids& routed, std::int64_t experts)
      : on_card(routed),
        first(static_cast<size_t>(experts + 1)),
        source(routed.size()),
        place(routed.size()),
        progress(Ids(ops::kExpertCounters, 12345)) {
    const Stream stream;
    ops::sort_pairs_cuda(stream, on_card.data(), std::ssize(routed), experts, pairs());
    stream.synchronize();
  }
  ops::DevicePairs pairs() const { return {first.data(), source.data(), place.data(), progress.data()}; }

  DeviceArray<std::int32_t> on_card, first, source, place, progress;
};

TEST(SortPairsCuda, AsOnTheCpu) {
  BUOY_NEEDS_GPU();
  struct Case {
    std::int64_t rows, experts, chosen;
  };
  for (const Case& c : {Case{1, 4, 2},
                        {1, 128, 8},
                        {3, 64, 8},
                        {40, 1, 1},
                        {256, 2, 1},
                        {257, 1, 1},
                        {33, 512, 32},
                        {700, 8, 3},
                        {2048, 3, 1},
                        {2049, 1, 1},
                        {1500, 128, 8},
                        {4096, 128, 8},
                        {4999, 300, 7}}) {
    const Ids routed = choices(c.rows, c.experts, c.chosen, 5);
    const Sorted sorted(routed, c.experts);
    const auto expected = ops::rows_by_expert(routed, c.experts);
    EXPECT_EQ(sorted.first.host(), Ids(expected.first.begin(), expected.first.end()));
    const Ids source = sorted.source.host(), place = sorted.place.host();
    EXPECT_EQ(source, Ids(expected.pairs.begin(), expected.pairs.end()));
    for (size_t j = 0; j < source.size(); ++j) EXPECT_EQ(place[static_cast<size_t>(source[j])], j);
    EXPECT_EQ(sorted.progress.host(), Ids(ops::kExpertCounters, 0));
  }
}

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
  std::vector<float> run(ExpertsChoice choice, std::int64_t begin, std::int64_t end, int column_parts = 2,
                         int lead = 0, bool begin_early = true, int times = 1) const {
    const std::int64_t rows = end - begin, k = shape.chosen;
    const auto part = [&](const auto& values, std::int64_t width) {
      return std::vector(values.begin() + begin * width, values.begin() + end * width);
    };
    const DeviceArray<std::uint16_t> x(to_bf16(part(input, shape.hidden))), both(to_bf16(gate_up)),
        last(to_bf16(down)), returned(static_cast<size_t>(rows * k * shape.hidden)),
        activated(static_cast<size_t>(rows * k * shape.width));
    const Sorted sorted(part(routed, k), shape.experts);
    const DeviceArray<float> shares(part(weights, k)), out(part(residual, shape.hidden));
    const Stream stream;
    for (int i = 0; i < times; ++i) {
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
                         .output = out.data(),
                         .overlap_from = column_parts > 0 ? 1 : rows + 1,
                         .column_parts = column_parts,
                         .begin_early = begin_early,
                         .lead = lead},
                        choice);
    }
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

// Sums of finished columns while the others are multiplied, and warpgroups that are not side by side.
TEST(ExpertsCuda, WhatOverlapsChangesNoBit) {
  BUOY_NEEDS_GPU();
  std::vector<Ids> loads = uneven_loads();
  loads.push_back(Ids(40, 260));
  std::uint64_t seed = 50;
  for (const Ids& load : loads) {
    const std::int64_t rows = std::accumulate(load.begin(), load.end(), std::int64_t{0});
    SCOPED_TRACE(std::to_string(load.size()) + " experts, " + std::to_string(rows) + " rows");
    const Shape shape{rows, 1024, 456, std::ssize(load), 1};
    ++seed;
    const Mixture mixture(shape, seed, choices_of_loads(load, seed));
    const auto plain = mixture.run(ExpertsChoice::kByShape, 0, rows, 0, 0, false, 3);
    for (const bool begin_early : {false, true}) {
      for (const auto& [parts, lead] : {std::pair{1, 0}, {2, 0}, {4, 1}, {1, 1}, {2, 2}}) {
        EXPECT_EQ(mixture.run(ExpertsChoice::kByShape, 0, rows, parts, lead, begin_early, 3), plain)
            << parts << " parts, " << lead << " ahead, " << (begin_early ? "early" : "in turn");
      }
    }
  }
  const Mixture eight({1100, 2048, 456, 16, 8}, 5);
  EXPECT_EQ(eight.run(ExpertsChoice::kByShape, 0, 1100, 2, 1, true, 5),
            eight.run(ExpertsChoice::kByShape, 0, 1100, 0, 0, false, 5));
}

TEST(ExpertsCuda, TwiceTheSameBits) {
  BUOY_NEEDS_GPU();
  const Mixture mixture({460, 64, 264, 4, 2}, 4);
  EXPECT_EQ(mixture.run(ExpertsChoice::kByShape, 0, 460), mixture.run(ExpertsChoice::kByShape, 0, 460));
}

}  // namespace
}  // namespace buoy

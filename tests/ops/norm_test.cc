#include <gtest/gtest.h>

#include <cstring>

#include "buoy/ops/pointwise/norm.h"
#include "ops/cases.h"
#include "ops/error_ratio.h"

namespace buoy {
namespace {

using testing::ErrorRatio;
using testing::normal_numbers;
using testing::NormCase;

constexpr double kEps = 1e-5;

std::vector<float> plain_norm(const ops::NormArgs& args) {
  std::vector<float> output;
  for (std::int64_t r = 0; r < args.rows; ++r) {
    const float* x = args.input + r * args.width;
    float sum = 0;
    for (std::int64_t i = 0; i < args.width; ++i) sum += x[i] * x[i];
    const float scale = 1 / std::sqrt(sum / static_cast<float>(args.width) + static_cast<float>(args.eps));
    for (std::int64_t i = 0; i < args.width; ++i) output.push_back(x[i] * scale * args.weight[i]);
  }
  return output;
}

class Norm : public ::testing::TestWithParam<NormCase> {};

TEST_P(Norm, ErrsAtMostTwiceAsMuchAsAPlainLoop) {
  const auto [rows, width] = GetParam();
  ThreadPool threads(2);
  ErrorRatio errors;
  // The numbers of a row share the error of its scale, so it takes many rows.
  for (std::uint64_t seed = 1; !errors.enough() || static_cast<std::int64_t>(seed) * rows < 1000;
       seed += 10) {
    const auto input = normal_numbers(seed, rows * width, 3), weight = normal_numbers(seed + 1, width);
    std::vector<float> ours(input.size());
    std::vector<double> exact(input.size());
    const ops::NormArgs args{input.data(), rows, width, weight.data(), kEps, ours.data()};
    ops::rms_norm({threads}, args);
    ops::rms_norm_reference(args, exact.data());
    errors.add(ours, plain_norm(args), exact);
  }
  errors.expect_at_most_twice("output");
}

// Squares of these overflow a float: a plain loop gives zeros, and a model that writes "!!!!".
TEST(NormOverflow, NumbersWhoseSquaresOverflowAreNormalised) {
  constexpr std::int64_t kWidth = 37;
  auto input = normal_numbers(1, kWidth);
  for (float& x : input) x *= 1e25f;
  const auto weight = normal_numbers(2, kWidth);
  std::vector<float> ours(input.size());
  std::vector<double> exact(input.size());
  ThreadPool threads(1);
  const ops::NormArgs args{input.data(), 1, kWidth, weight.data(), kEps, ours.data()};
  ops::rms_norm({threads}, args);
  ops::rms_norm_reference(args, exact.data());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], exact[i], 1e-6 * std::abs(exact[i]));
}

TEST_P(Norm, InPlaceWithManyThreadsOrRowByRowIsTheSameToTheBit) {
  const auto [rows, width] = GetParam();
  const auto input = normal_numbers(3, rows * width), weight = normal_numbers(4, width);
  ThreadPool one(1), three(3);
  std::vector<float> apart(input.size()), in_place = input, alone(input.size());
  ops::rms_norm({one}, {input.data(), rows, width, weight.data(), kEps, apart.data()});
  ops::rms_norm({three}, {in_place.data(), rows, width, weight.data(), kEps, in_place.data()});
  for (std::int64_t r = 0; r < rows; ++r) {
    ops::rms_norm({one}, {input.data() + r * width, 1, width, weight.data(), kEps, alone.data() + r * width});
  }
  EXPECT_EQ(std::memcmp(in_place.data(), apart.data(), apart.size() * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(alone.data(), apart.data(), apart.size() * sizeof(float)), 0);
}

INSTANTIATE_TEST_SUITE_P(Cases, Norm, ::testing::ValuesIn(testing::norm_cases()),
                         testing::name_of_case<NormCase>);

TEST(NormValues, ZerosStayZeroAndEpsIsInsideTheRoot) {
  ThreadPool threads(1);
  const std::vector<float> zeros(8, 0.0f), tiny(8, 1e-3f), weight(8, 2.0f);
  std::vector<float> output(8);
  ops::rms_norm({threads}, {zeros.data(), 1, 8, weight.data(), kEps, output.data()});
  EXPECT_EQ(output, zeros);
  // 1e-3 / sqrt(1e-6 + 1e-5) * 2. The sum of squares, the scale and two products: four roundings.
  ops::rms_norm({threads}, {tiny.data(), 1, 8, weight.data(), kEps, output.data()});
  const double expected = 2 * double{1e-3f} / std::sqrt(double{1e-3f} * 1e-3f + kEps);
  for (const float value : output) EXPECT_NEAR(value, expected, 4 * testing::kRoundoff * expected);
}

}  // namespace
}  // namespace buoy

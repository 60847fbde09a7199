#include "buoy/ops/pointwise/elementwise.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ops/error_ratio.h"

namespace buoy {
namespace {

using testing::ErrorRatio;
using testing::kRoundoff;
using testing::normal_numbers;

std::vector<float> swiglu_of(std::vector<float> gate, const std::vector<float>& up, int thread_count = 2) {
  ThreadPool threads(thread_count);
  ops::swiglu({threads}, gate.data(), up.data(), static_cast<std::int64_t>(gate.size()));
  return gate;
}

class Swiglu : public ::testing::TestWithParam<double> {};

TEST_P(Swiglu, ErrsAtMostTwiceAsMuchAsAPlainLoop) {
  const std::int64_t count = 50001;  // several pieces and a tail
  const auto gate = normal_numbers(1, count, GetParam()), up = normal_numbers(2, count);
  std::vector<float> plain;
  for (size_t i = 0; i < gate.size(); ++i) plain.push_back(gate[i] / (1 + std::exp(-gate[i])) * up[i]);
  std::vector<double> exact(gate.size());
  ops::swiglu_reference(gate.data(), up.data(), count, exact.data());
  ErrorRatio errors;
  errors.add(swiglu_of(gate, up), plain, exact);
  errors.expect_at_most_twice("output");
}

INSTANTIATE_TEST_SUITE_P(Deviations, Swiglu, ::testing::Values(0.01, 1.0, 10.0, 1e4),
                         [](const auto& test) { return std::to_string(test.index); });

// exp(-gate) is within an ulp (2 u); then a sum, a quotient and a product: 5 u. Past gate = -88 the
// exponential is held there, which leaves at most |gate up| e^-88 < |gate up| 2^-126 of a true value that is
// still smaller.
TEST(SwigluValues, AreRightFromTheSmallestToTheLargestGate) {
  const std::vector<float> gates = {0.0f,   -0.0f,  1e-30f, -1e-30f, 1.0f,  -1.0f,  20.0f,   -20.0f, 80.0f,
                                    -80.0f, -87.0f, -88.0f, -89.0f,  88.0f, 100.0f, -100.0f, 1e4f,   -1e4f};
  for (const float up : {1.0f, -3.0f, 1e4f, -1e4f, 0.0f}) {
    const std::vector<float> ups(gates.size(), up);
    const auto ours = swiglu_of(gates, ups);
    std::vector<double> exact(gates.size());
    ops::swiglu_reference(gates.data(), ups.data(), static_cast<std::int64_t>(gates.size()), exact.data());
    for (size_t i = 0; i < gates.size(); ++i) {
      EXPECT_NEAR(ours[i], exact[i],
                  5 * kRoundoff * std::fabs(exact[i]) + std::fabs(double{gates[i]} * up) * 0x1p-126)
          << "gate " << gates[i] << " up " << up;
    }
  }
}

TEST(SwigluValues, DoNotDependOnPlaceOrThreads) {
  const std::int64_t count = 40007;
  const auto gate = normal_numbers(3, count, 3), up = normal_numbers(4, count);
  const auto all = swiglu_of(gate, up, 1);
  const auto threaded = swiglu_of(gate, up, 3);
  EXPECT_EQ(std::memcmp(threaded.data(), all.data(), all.size() * sizeof(float)), 0);
  for (const size_t i : {0, 1, 2, 3, 16383, 16384, 40003, 40006}) {
    EXPECT_EQ(std::memcmp(swiglu_of({gate[i]}, {up[i]}).data(), &all[i], sizeof(float)), 0) << i;
  }
}

TEST(Add, IsOneRoundedSumEach) {
  const std::int64_t count = 40007;
  const auto a = normal_numbers(5, count), b = normal_numbers(6, count);
  auto sum = a;
  ThreadPool threads(3);
  ops::add({threads}, sum.data(), b.data(), count);
  for (size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], a[i] + b[i]) << i;
}

TEST(AllFinite, FindsOneBadNumberWhereverItIs) {
  constexpr float kBad[] = {INFINITY, -INFINITY, NAN};
  ThreadPool threads(3);
  auto values = normal_numbers(7, 40007, 1e38 / 6);
  const auto finite = [&] { return ops::all_finite({threads}, values.data(), 40007); };
  EXPECT_TRUE(finite());
  for (const size_t i : {0, 1, 5, 16383, 16384, 40000, 40006}) {
    const float kept = values[i];
    for (const float bad : kBad) {
      values[i] = bad;
      EXPECT_FALSE(finite()) << bad << " at " << i;
    }
    values[i] = kept;
  }
  values[9] = INFINITY, values[13] = -INFINITY;  // one lane apart: their sum must not cancel
  EXPECT_FALSE(finite());
  EXPECT_TRUE(ops::all_finite({threads}, values.data(), 0));
}

}  // namespace
}  // namespace buoy

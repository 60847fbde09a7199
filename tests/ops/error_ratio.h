#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "buoy/base/random.h"

namespace buoy::testing {

inline constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
inline constexpr double kRoundoff = kEpsilon / 2;  // largest relative error of one rounding

// `count` draws of N(0, deviation^2).
inline std::vector<float> normal_numbers(std::uint64_t seed, std::int64_t count, double deviation = 1) {
  std::vector<float> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(
        deviation * normal(seed, {DrawStream::kWeights, 0, 0, static_cast<std::uint32_t>(i)}));
  }
  return numbers;
}

// The project's rule for numbers: the root-mean-square error of an operation, against its reference in
// double, is at most twice that of a plain float loop.
//
// Two things keep luck out of it. Small shapes are drawn again with other numbers until kEnough outputs
// were compared, since the ratio of two single errors says nothing. And where the plain loop is exact or
// nearly so (a product with one input, a softmax over one key) the operation may still round: the floor
// is one rounding of the outputs' own size.
class ErrorRatio {
 public:
  static constexpr std::int64_t kEnough = 500;

  void add(std::span<const float> ours, std::span<const float> plain, std::span<const double> exact) {
    ASSERT_EQ(ours.size(), exact.size());
    ASSERT_EQ(plain.size(), exact.size());
    for (size_t i = 0; i < exact.size(); ++i) {
      ours_ += (ours[i] - exact[i]) * (ours[i] - exact[i]);
      plain_ += (plain[i] - exact[i]) * (plain[i] - exact[i]);
      size_ += exact[i] * exact[i];
    }
    count_ += static_cast<std::int64_t>(exact.size());
  }

  bool enough() const { return count_ >= kEnough; }

  void expect_at_most_twice(const std::string& what) const {
    ASSERT_GT(count_, 0) << what;
    const double n = static_cast<double>(count_);
    const double ours = std::sqrt(ours_ / n), plain = std::sqrt(plain_ / n), size = std::sqrt(size_ / n);
    EXPECT_LE(ours, 2 * plain + kRoundoff * size) << what;
    const auto in_epsilons = [&](double error) { return size > 0 ? error / size / kEpsilon : 0.0; };
    ::testing::Test::RecordProperty(
        what, std::to_string(in_epsilons(ours)) + " epsilons, plain " + std::to_string(in_epsilons(plain)));
  }

 private:
  double ours_ = 0, plain_ = 0, size_ = 0;  // sums of squares
  std::int64_t count_ = 0;
};

// A number printed by gtest for a test of a table of cases.
template <typename Case>
std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name();
}

}  // namespace buoy::testing

// Lengths of heads' vectors and their cosines with the forward before: against the reference in double, with
// at most twice the error of a plain float loop.

#include "buoy/ops/moments/head_states.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/error_ratio.h"

namespace buoy::ops {
namespace {

using testing::ErrorRatio;
using testing::normal_numbers;

constexpr std::int64_t kRows = 57, kHeads = 3, kDim = 40;

float plain_product(const float* a, const float* b) {
  float sum = 0;
  for (std::int64_t i = 0; i < kDim; ++i) sum += a[i] * b[i];
  return sum;
}

TEST(HeadStates, NormsAreThoseOfTheReference) {
  ErrorRatio errors;
  for (std::uint64_t seed = 1; !errors.enough(); ++seed) {
    const auto states = normal_numbers(seed, kRows * kHeads * kDim, 3);
    const HeadStates of{states.data(), kRows, kHeads, kDim};
    std::vector<float> ours(kHeads * kRows), again(ours), plain(ours);
    std::vector<double> exact(ours.size());
    ThreadPool one(1), three(3);
    head_norms({one}, of, ours.data());
    head_norms({three}, of, again.data());
    EXPECT_EQ(ours, again);
    head_norms_reference(of, exact.data());
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t row = 0; row < kRows; ++row) {
        const float* state = states.data() + (row * kHeads + h) * kDim;
        plain[static_cast<size_t>(h * kRows + row)] = std::sqrt(plain_product(state, state));
      }
    }
    errors.add(ours, plain, exact);
  }
  errors.expect_at_most_twice("norms");
}

TEST(HeadStates, DriftIsThatOfTheReferenceAndTakesThePlaceOfBefore) {
  ErrorRatio errors;
  for (std::uint64_t seed = 1; !errors.enough(); ++seed) {
    const auto before = normal_numbers(2 * seed, kRows * kHeads * kDim);
    auto now = before;
    const auto moved = normal_numbers(2 * seed + 1, std::ssize(now), 0.3);
    for (size_t i = 0; i < now.size(); ++i) now[i] += moved[i];
    auto room = before;
    std::vector<float> ours(kHeads * kRows), plain(ours);
    std::vector<double> exact(ours.size());
    HeadDrift drift{{now.data(), kRows, kHeads, kDim}, room.data(), kRows, ours.data()};
    head_drift_reference(drift, exact.data());
    ThreadPool threads(2);
    head_drift({threads}, drift);
    EXPECT_EQ(room, now);
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t row = 0; row < kRows; ++row) {
        const float *a = now.data() + (row * kHeads + h) * kDim,
                    *b = before.data() + (row * kHeads + h) * kDim;
        plain[static_cast<size_t>(h * kRows + row)] =
            plain_product(a, b) / std::sqrt(plain_product(a, a)) / std::sqrt(plain_product(b, b));
      }
    }
    errors.add(ours, plain, exact);
  }
  errors.expect_at_most_twice("drift");
}

// By hand: the same, turned by a right angle, turned round; a zero vector; a row that was not there.
TEST(HeadStates, PlantedAnglesComeBack) {
  const std::vector<float> now = {3, 4, 0, 2, -1, 0, 0, 0, 1, 1};
  std::vector<float> before = {6, 8, 5, 0, 2, 0, 1, 1, 0, 0};
  std::vector<float> cosines(5, 9);
  ThreadPool threads(2);
  head_drift({threads}, {{now.data(), 5, 1, 2}, before.data(), 4, cosines.data()});
  EXPECT_EQ(cosines, (std::vector<float>{1, 0, -1, 0, 1}));
  EXPECT_EQ(before, now);
  // Nothing moved: no drift.
  head_drift({threads}, {{now.data(), 5, 1, 2}, before.data(), 5, cosines.data()});
  for (const size_t row : {0, 1, 2, 4}) EXPECT_FLOAT_EQ(cosines[row], 1) << row;
}

}  // namespace
}  // namespace buoy::ops

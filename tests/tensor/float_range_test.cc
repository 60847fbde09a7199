#include "buoy/tensor/float_range.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace buoy {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(FloatRange, HoldsItsEnds) {
  EXPECT_TRUE(all_within({}, 0, 1));
  const std::vector<float> ends(37, 1.0f), zeros(37, -0.0f);
  EXPECT_TRUE(all_within(ends, 0, 1));
  EXPECT_TRUE(all_within(zeros, 0, 1));
  EXPECT_FALSE(all_within(ends, 0, 0.9999999f));
}

// One wrong value, in any place of a row of any length.
TEST(FloatRange, FindsOneValueOutside) {
  const float wrong[] = {-1e-30f, 1.0000001f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  for (size_t count = 1; count < 70; ++count) {
    std::vector<float> values(count, 0.5f);
    EXPECT_TRUE(all_within(values, 0, 1));
    for (size_t at = 0; at < count; ++at) {
      for (const float value : wrong) {
        values[at] = value;
        EXPECT_FALSE(all_within(values, 0, 1)) << value << " at " << at << " of " << count;
      }
      values[at] = 0.5f;
    }
  }
}

TEST(FloatRange, MayBeOpenOnOneSide) {
  EXPECT_TRUE(all_within(std::vector<float>{3e38f, 0, 7, 1, 2, 3, 4, 5, 6}, 0, kInfinity));
  EXPECT_FALSE(
      all_within(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}, -kInfinity, kInfinity));
}

}  // namespace
}  // namespace buoy

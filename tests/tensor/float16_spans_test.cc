// The vector conversions against the scalar ones, bit for bit, for every target this processor has.

#include "buoy/tensor/float16_spans.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "buoy/base/float16.h"

namespace buoy {
namespace {

std::vector<std::int64_t> usable_targets() {
  std::vector<std::int64_t> targets;
  for (std::int64_t rest = HWY_TARGETS & hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    targets.push_back(rest & -rest);
  }
  return targets;
}

class Float16Spans : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

void expect_the_scalar_halves(const std::vector<float>& values) {
  std::vector<std::uint16_t> halves(values.size());
  floats_to_f16(values, halves);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(halves[i], float_to_f16(values[i])) << std::bit_cast<std::uint32_t>(values[i]);
  }
}

TEST_P(Float16Spans, EveryHalfBecomesTheScalarFloat) {
  std::vector<std::byte> bytes(2 * 0x10000 + 1);
  for (const size_t offset : {0, 1}) {  // a file from elsewhere may not be aligned
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
      const auto half = static_cast<std::uint16_t>(i);
      std::memcpy(bytes.data() + offset + 2 * i, &half, 2);
    }
    std::vector<float> floats(0x10000);
    f16_to_floats(std::span(bytes).subspan(offset, 2 * 0x10000), floats);
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]),
                std::bit_cast<std::uint32_t>(f16_to_float(static_cast<std::uint16_t>(i))))
          << i;
    }
  }
}

// Every half, the middle between it and the next, and the floats on both sides of each; both signs.
TEST_P(Float16Spans, RoundsAtEveryBoundaryAsTheScalarFunction) {
  std::vector<float> values;
  for (std::uint32_t i = 0; i <= 0x7C00; ++i) {
    const float half = f16_to_float(static_cast<std::uint16_t>(i));
    const float next = i < 0x7BFF ? f16_to_float(static_cast<std::uint16_t>(i + 1)) : 65536.0f;
    for (const float value : {half, half + (next - half) / 2}) {
      for (const float near : {std::nextafterf(value, -1.0f), value,
                               std::nextafterf(value, std::numeric_limits<float>::infinity())}) {
        values.insert(values.end(), {near, -near});
      }
    }
  }
  expect_the_scalar_halves(values);
}

TEST_P(Float16Spans, RoundsRandomFloatsAsTheScalarFunction) {
  std::mt19937 random(7);
  std::vector<float> values(1 << 20);
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  expect_the_scalar_halves(values);  // NaN with all sorts of payloads among them
  for (float& value : values)
    value = std::ldexp(static_cast<float>(random()), -56 + static_cast<int>(random() % 48));
  expect_the_scalar_halves(values);  // dense where halves are
  expect_the_scalar_halves({std::bit_cast<float>(0x7F800001u), std::bit_cast<float>(0xFFFFFFFFu), 0.0f, -0.0f,
                            std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()});
}

TEST_P(Float16Spans, OfAnyLengthWritesNothingBehindItsEnd) {
  for (size_t count = 0; count < 70; ++count) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) + 0.25f;
    std::vector<std::uint16_t> halves(count + 1, 0xABCD);
    EXPECT_FALSE(floats_to_f16(values, std::span(halves).first(count)));
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(halves[i], float_to_f16(values[i]));
    EXPECT_EQ(halves[count], 0xABCD);
    std::vector<float> back(count + 1, -7.0f);
    f16_to_floats(std::as_bytes(std::span(halves).first(count)), std::span(back).first(count));
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(back[i], values[i]);
    EXPECT_EQ(back[count], -7.0f);
  }
}

TEST_P(Float16Spans, TellsFiniteValuesPastTheLargestHalfWhereverTheyAre) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (size_t at = 0; at < 37; ++at) {
    std::vector<float> values(37, 1.0f);
    std::vector<std::uint16_t> halves(37);
    const auto exceeds = [&](float value) {
      values[at] = value;
      return floats_to_f16(values, halves);
    };
    for (const float sign : {1.0f, -1.0f}) {
      EXPECT_FALSE(exceeds(sign * kLargestF16));
      EXPECT_FALSE(exceeds(sign * infinity));
      EXPECT_FALSE(exceeds(std::copysign(std::nanf(""), sign)));
      EXPECT_TRUE(exceeds(sign * std::nextafterf(kLargestF16, infinity)));
      EXPECT_TRUE(exceeds(sign * 65520.0f));
      EXPECT_TRUE(exceeds(sign * std::numeric_limits<float>::max()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Float16Spans, ::testing::ValuesIn(usable_targets()),
                         [](const auto& test) { return std::string(hwy::TargetName(test.param)); });

}  // namespace
}  // namespace buoy

// bf16 and f16 against the definition of the formats, over all 65536 patterns: value, round trip, and
// rounding at, below and above the middle between every two neighbours.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "buoy/tensor/dtype.h"

namespace buoy {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Format {
  const char* name;
  int fraction_bits;
  int bias;
  float (*to_float)(std::uint16_t);
  std::uint16_t (*from_float)(float);

  int exponent_bits() const { return 15 - fraction_bits; }
  std::uint16_t infinity() const {
    return static_cast<std::uint16_t>(((1 << exponent_bits()) - 1) << fraction_bits);
  }
  bool is_nan(std::uint16_t bits) const { return (bits & 0x7FFF) > infinity(); }

  // IEEE 754: sign, exponent, fraction.
  double value(std::uint16_t bits) const {
    const int exponent = (bits & 0x7FFF) >> fraction_bits;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int implicit = exponent == 0 ? 0 : 1 << fraction_bits;
    const double magnitude =
        (bits & 0x7FFF) == infinity()
            ? std::numeric_limits<double>::infinity()
            : std::ldexp(implicit + fraction, std::max(exponent, 1) - bias - fraction_bits);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }
};

const Format kBf16{"bf16", 7, 127, bf16_to_float, float_to_bf16};
const Format kF16{"f16", 10, 15, f16_to_float, float_to_f16};

class Conversion : public ::testing::TestWithParam<Format> {};

TEST_P(Conversion, EveryPatternHasTheValueTheFormatDefines) {
  const Format& format = GetParam();
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float value = format.to_float(bits);
    if (format.is_nan(bits)) {
      ASSERT_TRUE(std::isnan(value)) << i;
    } else {
      ASSERT_EQ(value, format.value(bits)) << i;
    }
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << i;
  }
}

TEST_P(Conversion, EveryNumberSurvivesTheRoundTripAndEveryNanStaysOne) {
  const Format& format = GetParam();
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const std::uint16_t back = format.from_float(format.to_float(bits));
    if (format.is_nan(bits)) {
      ASSERT_TRUE(format.is_nan(back)) << i;
      ASSERT_EQ(back & 0x8000, bits & 0x8000) << i;
    } else {
      ASSERT_EQ(back, bits);
    }
  }
}

TEST_P(Conversion, RoundsToTheNearestAndTiesToEvenBetweenAllNeighbours) {
  const Format& format = GetParam();
  for (std::uint32_t i = 0; i + 1 < format.infinity(); ++i) {
    const auto below = static_cast<std::uint16_t>(i), above = static_cast<std::uint16_t>(i + 1);
    // A float has at least one more bit than either format, so the middle is exact.
    const auto middle = static_cast<float>((format.value(below) + format.value(above)) / 2);
    const std::uint16_t even = below % 2 == 0 ? below : above;
    for (const std::uint16_t sign : {0, 0x8000}) {
      const float s = sign == 0 ? 1.0f : -1.0f;
      ASSERT_EQ(format.from_float(s * middle), sign | even) << i;
      ASSERT_EQ(format.from_float(s * std::nextafterf(middle, 0)), sign | below) << i;
      ASSERT_EQ(format.from_float(s * std::nextafterf(middle, kInfinity)), sign | above) << i;
    }
  }
}

TEST_P(Conversion, OverflowsToInfinityFromTheMiddleAboveTheLargestNumber) {
  const Format& format = GetParam();
  const auto largest = static_cast<std::uint16_t>(format.infinity() - 1);
  const double step = format.value(largest) - format.value(static_cast<std::uint16_t>(largest - 1));
  const auto middle = static_cast<float>(format.value(largest) + step / 2);
  EXPECT_EQ(format.from_float(std::nextafterf(middle, 0)), largest);
  EXPECT_EQ(format.from_float(middle), format.infinity());
  EXPECT_EQ(format.from_float(-middle), 0x8000 | format.infinity());
  EXPECT_EQ(format.from_float(std::numeric_limits<float>::max()), format.infinity());
  EXPECT_EQ(format.from_float(kInfinity), format.infinity());
  EXPECT_EQ(format.from_float(-kInfinity), 0x8000 | format.infinity());
}

TEST_P(Conversion, KeepsTheSignOfZeroAndOfWhatRoundsToIt) {
  const Format& format = GetParam();
  EXPECT_EQ(format.from_float(0.0f), 0);
  EXPECT_EQ(format.from_float(-0.0f), 0x8000);
  EXPECT_EQ(format.from_float(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(format.from_float(-std::numeric_limits<float>::denorm_min()), 0x8000);
}

TEST_P(Conversion, NanNeverBecomesInfinity) {
  const Format& format = GetParam();
  EXPECT_TRUE(format.is_nan(format.from_float(kNan)));
  // A NaN whose payload lies only in the bits that are cut off.
  EXPECT_TRUE(format.is_nan(format.from_float(std::bit_cast<float>(0x7F800001u))));
  EXPECT_TRUE(format.is_nan(format.from_float(std::bit_cast<float>(0xFFFFFFFFu))));
}

INSTANTIATE_TEST_SUITE_P(Formats, Conversion, ::testing::Values(kBf16, kF16),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(DType, KnowsNamesAndSizes) {
  EXPECT_EQ(name_of(DType::kF32), "F32");
  EXPECT_EQ(name_of(DType::kF16), "F16");
  EXPECT_EQ(name_of(DType::kBF16), "BF16");
  EXPECT_EQ(size_of(DType::kF32), 4u);
  EXPECT_EQ(size_of(DType::kF16), 2u);
  EXPECT_EQ(size_of(DType::kBF16), 2u);
}

}  // namespace
}  // namespace buoy

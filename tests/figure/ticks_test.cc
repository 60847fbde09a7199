#include "buoy/figure/chart/ticks.h"

#include <gtest/gtest.h>

namespace buoy::figure {
namespace {

using Words = std::vector<std::string>;

Words labels(const std::vector<Tick>& ticks) {
  Words words;
  for (const auto& tick : ticks) words.push_back(tick.label);
  return words;
}

TEST(LinearTicks, AreRoundNumbersInsideTheRange) {
  EXPECT_EQ(labels(linear_ticks({0, 1}, 6)), (Words{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(linear_ticks({0, 31}, 7)), (Words{"0", "5", "10", "15", "20", "25", "30"}));
  EXPECT_EQ(labels(linear_ticks({-0.3, 0.3}, 4)), (Words{"−0.2", "0", "0.2"}));
  EXPECT_EQ(labels(linear_ticks({0.101, 0.149}, 3)), (Words{"0.12", "0.14"}));
  EXPECT_EQ(labels(linear_ticks({99, 101}, 3)), (Words{"99", "100", "101"}));
}

TEST(LinearTicks, ShareAPowerOfTenWhereNumbersAreTinyOrHuge) {
  EXPECT_EQ(labels(linear_ticks({0, 3e-6}, 4)), (Words{"0", "1×10⁻⁶", "2×10⁻⁶", "3×10⁻⁶"}));
  EXPECT_EQ(labels(linear_ticks({0, 1e6}, 3)), (Words{"0", "0.5×10⁶", "1.0×10⁶"}));
}

TEST(LinearTicks, AreNeverMoreThanAsked) {
  for (int most = 1; most < 12; ++most) {
    for (const Range& range :
         {Range{0, 1}, Range{-7, 1234}, Range{0.99, 1.01}, Range{-1e-9, 1e9}, Range{5, 5}}) {
      const auto ticks = linear_ticks(range, most);
      EXPECT_LE(static_cast<int>(ticks.size()), most);
      for (const auto& tick : ticks) {
        EXPECT_GE(tick.value, range.low - 1e-6 * (range.high - range.low));
        EXPECT_LE(tick.value, range.high + 1e-6 * (range.high - range.low));
      }
    }
  }
}

TEST(LinearTicks, KeepToWholeNumbersWhenAsked) {
  EXPECT_EQ(labels(linear_ticks({0, 2}, 9, TickStep::kWhole)), (Words{"0", "1", "2"}));
  EXPECT_EQ(labels(linear_ticks({3, 3}, 9, TickStep::kWhole)), Words{"3"});
}

TEST(LogTicks, ArePowersOfTen) {
  EXPECT_EQ(labels(log_ticks({1e-5, 1}, 6)), (Words{"10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"}));
  EXPECT_EQ(labels(log_ticks({1e-8, 1}, 5)), (Words{"10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"}));
  EXPECT_EQ(labels(log_ticks({0.01, 100}, 5)), (Words{"0.01", "0.1", "1", "10", "100"}));
}

TEST(LogTicks, FillAShortRangeWithOneTwoFive) {
  EXPECT_EQ(labels(log_ticks({0.015, 0.3}, 6)), (Words{"0.02", "0.05", "0.1", "0.2"}));
  EXPECT_EQ(labels(log_ticks({3, 4.5}, 4)), (Words{"3.0", "3.5", "4.0", "4.5"}));
}

TEST(ShortNumber, HasThreeDigitsAndATrueMinus) {
  EXPECT_EQ(short_number(0.4983), "0.498");
  EXPECT_EQ(short_number(-12.0), "−12");
  EXPECT_EQ(short_number(1e-5), "10⁻⁵");
  EXPECT_EQ(short_number(2.5e-6), "2.5×10⁻⁶");
  EXPECT_EQ(short_number(-123456789.0), "−1.23×10⁸");
  EXPECT_EQ(short_number(9.999e-6), "10⁻⁵");
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(100), "100");
}

}  // namespace
}  // namespace buoy::figure

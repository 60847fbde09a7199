// docs/randomness.md is the definition; these are its promises.

#include "buoy/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace buoy {
namespace {

constexpr std::uint64_t kSeed = 20260107;
constexpr std::uint32_t kDraws = 200'000;

using Words = std::array<std::uint32_t, 4>;

TEST(Philox, KnownAnswerOfTheDocumentation) {
  EXPECT_EQ(philox(0, {0, 0, 0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, KnownAnswersOfItsAuthors) {
  EXPECT_EQ(philox(0xffffffffffffffff, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Uniform, KnownAnswerOfTheDocumentation) {
  // ((x0 >> 5) * 2^26 + (x1 >> 6)) * 2^-53 of the words above, by Python.
  EXPECT_EQ(uniform(0, {static_cast<DrawStream>(0)}), 0x1.989fa370b4e2cp-2);
}

TEST(Uniform, AddressFillsTheCounterInTheDocumentedOrder) {
  const auto words = philox(kSeed, {4, 3, 2, 1});  // index, position, step, stream
  const double expected = ((words[0] >> 5) * 0x1p26 + (words[1] >> 6)) * 0x1p-53;
  EXPECT_EQ(uniform(kSeed, {DrawStream::kTokenNoise, 2, 3, 4}), expected);
}

TEST(Uniform, EveryPartOfTheAddressAndTheSeedMatters) {
  const DrawAddress address{DrawStream::kTokenNoise, 1, 1, 1};
  const double draw = uniform(kSeed, address);
  EXPECT_EQ(uniform(kSeed, address), draw);
  EXPECT_NE(uniform(kSeed + 1, address), draw);
  EXPECT_NE(uniform(kSeed + (std::uint64_t{1} << 32), address), draw);
  EXPECT_NE(uniform(kSeed, {DrawStream::kTransfer, 1, 1, 1}), draw);
  EXPECT_NE(uniform(kSeed, {DrawStream::kTokenNoise, 2, 1, 1}), draw);
  EXPECT_NE(uniform(kSeed, {DrawStream::kTokenNoise, 1, 2, 1}), draw);
  EXPECT_NE(uniform(kSeed, {DrawStream::kTokenNoise, 1, 1, 2}), draw);
}

TEST(Uniform, LiesInTheUnitIntervalAndFillsItEvenly) {
  constexpr int kBins = 64;
  std::vector<int> bins(kBins);
  double sum = 0, squares = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const double u = uniform(kSeed, {DrawStream::kTokenNoise, 0, 0, i});
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++bins[static_cast<size_t>(u * kBins)];
    sum += u;
    squares += u * u;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 0.5, 4 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / kDraws));
  double chi_squared = 0;
  const double expected = static_cast<double>(kDraws) / kBins;
  for (const int count : bins) chi_squared += (count - expected) * (count - expected) / expected;
  EXPECT_NEAR(chi_squared, kBins - 1, 4 * std::sqrt(2.0 * (kBins - 1)));
}

TEST(Uniform, NeighbouringAddressesAreUncorrelated) {
  for (const DrawAddress step :
       {DrawAddress{DrawStream::kTokenNoise, 1, 0, 0}, DrawAddress{DrawStream::kTokenNoise, 0, 1, 0},
        DrawAddress{DrawStream::kTokenNoise, 0, 0, 1}}) {
    double product = 0;
    for (std::uint32_t i = 0; i < kDraws; ++i) {
      const DrawAddress here{DrawStream::kTokenNoise, i, i, i};
      const DrawAddress next{DrawStream::kTokenNoise, i + step.step, i + step.position, i + step.index};
      product += (uniform(kSeed, here) - 0.5) * (uniform(kSeed, next) - 0.5);
    }
    EXPECT_NEAR(product / kDraws * 12, 0, 4 / std::sqrt(kDraws));
  }
}

TEST(Gumbel, OfZeroIsMinusInfinity) {
  EXPECT_EQ(gumbel(0.0), -std::numeric_limits<double>::infinity());
}

TEST(Gumbel, IsMinusLogOfMinusLog) {
  EXPECT_NEAR(gumbel(std::exp(-1.0)), 0.0, 1e-15);
  EXPECT_NEAR(gumbel(0.5), -std::log(std::numbers::ln2), 1e-15);
}

TEST(Gumbel, IsFiniteAtBothEndsOfWhatUniformCanReturn) {
  EXPECT_NEAR(gumbel(0x1p-53), -std::log(53 * std::numbers::ln2), 1e-14);
  EXPECT_NEAR(gumbel(1 - 0x1p-53), 53 * std::numbers::ln2, 1e-12);
}

TEST(Gumbel, OfUniformDrawsHasTheGumbelMean) {
  double sum = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    sum += gumbel(uniform(kSeed, {DrawStream::kTokenNoise, 0, 0, i}));
  }
  const double deviation = std::numbers::pi / std::sqrt(6.0);
  EXPECT_NEAR(sum / kDraws, std::numbers::egamma, 4 * deviation / std::sqrt(kDraws));
}

TEST(Normal, HasTheFirstFourMomentsOfTheStandardNormal) {
  double moment[5] = {};
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const double x = normal(kSeed, {DrawStream::kWeights, 0, 0, i});
    ASSERT_TRUE(std::isfinite(x));
    for (int power = 1; power <= 4; ++power) moment[power] += std::pow(x, power) / kDraws;
  }
  // The variance of x^k under the standard normal is 1, 2, 15, 96.
  EXPECT_NEAR(moment[1], 0, 4 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(moment[2], 1, 4 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(moment[3], 0, 4 * std::sqrt(15.0 / kDraws));
  EXPECT_NEAR(moment[4], 3, 4 * std::sqrt(96.0 / kDraws));
}

}  // namespace
}  // namespace buoy

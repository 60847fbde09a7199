// Calibration that was put in comes out: events whose shares of right ones are known.

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/analysis/predictions/calibration.h"
#include "buoy/base/random.h"

namespace buoy::analysis {
namespace {

// Samples of ten events each; an event of confidence c is right with probability right(c).
template <typename Right>
Calibration planted(int samples, const Right& right) {
  Calibration calibration({.replicates = 400});
  for (int n = 0; n < samples; ++n) {
    CalibrationCounts counts;
    for (std::uint32_t i = 0; i < 10; ++i) {
      const auto draw = [&](std::uint32_t which) {
        return uniform(5, {DrawStream::kWeights, which, static_cast<std::uint32_t>(n), i});
      };
      const double confidence = draw(0);
      counts.add(confidence, draw(1) < right(confidence));
    }
    calibration.add("sample " + std::to_string(n), counts);
  }
  return calibration;
}

TEST(PlantedCalibration, RightConfidenceHasTheErrorOfChanceAlone) {
  const auto found = planted(800, [](double c) { return c; });
  EXPECT_NEAR(found.expected_error().value, found.null_error(), 0.006);
  EXPECT_LT(found.expected_error().value, 0.02);
  for (std::int64_t b = 0; b < kConfidenceBins; ++b) {
    const auto bin = found.bin(b);
    EXPECT_NEAR(bin.confidence, (static_cast<double>(b) + 0.5) / 10, 0.005);
    EXPECT_NEAR(bin.right.value, bin.confidence, 0.06) << b;
    EXPECT_GT(bin.events, 600);
  }
}

// Right by half as often as it says: the error is the mean of c / 2, a quarter.
TEST(PlantedCalibration, OverconfidenceIsFound) {
  const auto found = planted(800, [](double c) { return c / 2; });
  const auto error = found.expected_error();
  EXPECT_NEAR(error.value, 0.25, 0.01);
  EXPECT_LT(error.lower, error.value);
  EXPECT_GT(error.upper, error.value);
  EXPECT_LT(error.upper - error.lower, 0.05);
  EXPECT_GT(error.lower, found.null_error());
  EXPECT_EQ(error.samples, 800);
}

// Never sure, always right: bins of one confidence.
TEST(PlantedCalibration, UnderconfidenceOfOneBinIsExact) {
  Calibration calibration({.replicates = 50});
  for (int n = 0; n < 5; ++n) {
    CalibrationCounts counts;
    counts.add(0.25, true);
    counts.add(0.25, true);
    calibration.add(std::to_string(n), counts);
  }
  EXPECT_DOUBLE_EQ(calibration.expected_error().value, 0.75);
  EXPECT_EQ(calibration.bin(2).events, 10);
  EXPECT_EQ(calibration.bin(2).right.value, 1);
  EXPECT_EQ(calibration.bin(3).events, 0);
}

TEST(PlantedCalibration, BinsReachFromZeroToOne) {
  EXPECT_EQ(confidence_bin(0), 0);
  EXPECT_EQ(confidence_bin(0.0999), 0);
  EXPECT_EQ(confidence_bin(0.5), 5);
  EXPECT_EQ(confidence_bin(0.9999), 9);
  EXPECT_EQ(confidence_bin(1), 9);
  EXPECT_EQ(confidence_bin(1.01), 9) << "rounded to half precision";
}

TEST(PlantedCalibration, NothingToSayOfNothing) {
  Calibration calibration({.replicates = 50});
  calibration.add("empty", CalibrationCounts{});
  EXPECT_EQ(calibration.samples(), 0);
  EXPECT_TRUE(std::isnan(calibration.expected_error().value));
  EXPECT_TRUE(std::isnan(calibration.null_error()));
}

}  // namespace
}  // namespace buoy::analysis

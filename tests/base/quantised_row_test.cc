#include "buoy/base/quantised_row.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace buoy {
namespace {

struct Quantised {
  RowScale scale;
  std::vector<std::uint8_t> codes;
  std::vector<double> values;  // read back
};

Quantised quantised(const std::vector<double>& row) {
  Quantised out{{}, std::vector<std::uint8_t>(row.size()), std::vector<double>(row.size())};
  out.scale = quantise_row(row, out.codes);
  read_quantised_row(out.scale, out.codes, out.values);
  return out;
}

TEST(QuantisedRow, EveryCodeIsTheNearestInTheLogarithm) {
  // Seven decades, of which the last two are nothing.
  std::vector<double> row;
  for (int i = 0; i <= 70'000; ++i) row.push_back(0.37 * std::pow(10.0, -i / 10'000.0));
  const auto found = quantised(row);
  const double low = found.scale.low, span = std::log(found.scale.high / low);
  std::vector<int> seen(256, 0);
  for (size_t i = 0; i < row.size(); ++i) {
    ++seen[found.codes[i]];
    if (row[i] < 0.37 * kQuantisedFloor) {
      EXPECT_EQ(found.codes[i], 0);
      continue;
    }
    const double place = 254 * std::log(row[i] / low) / span;
    ASSERT_NEAR(found.codes[i] - 1, place, 0.5 + 1e-4) << row[i];
    ASSERT_NEAR(found.values[i], row[i], row[i] * kMostQuantisedError);
  }
  for (int code = 0; code < 256; ++code) EXPECT_GT(seen[static_cast<size_t>(code)], 0) << code;
}

TEST(QuantisedRow, ReadBackItIsTheSameAgain) {
  std::vector<double> row;
  for (int i = 0; i < 500; ++i) row.push_back(std::pow(0.97, i) * (1 + i % 7));
  const auto once = quantised(row);
  const auto twice = quantised(once.values);
  EXPECT_EQ(once.codes, twice.codes);
}

TEST(QuantisedRow, WhatNoScaleCanTellIsNothing) {
  for (const auto& row : {std::vector<double>{}, std::vector<double>{0, 0}, std::vector<double>{1e-300},
                          std::vector<double>{std::nan("")}, std::vector<double>{-1}}) {
    const auto found = quantised(row);
    EXPECT_EQ(found.scale.low, 0);
    EXPECT_EQ(found.scale.high, 0);
    EXPECT_EQ(found.values, std::vector<double>(row.size(), 0.0));
  }
  const auto infinite = quantised({std::numeric_limits<double>::infinity(), 0.5});
  EXPECT_EQ(infinite.codes, (std::vector<std::uint8_t>{0, 1}));
}

}  // namespace
}  // namespace buoy

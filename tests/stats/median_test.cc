#include "buoy/stats/median.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace buoy::stats {
namespace {

double by_sorting(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2] + values[n / 2 - 1]) / 2;
}

TEST(Median, IsTheMiddleOfTheSortedValues) {
  MedianFinder median;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (size_t count = 1; count < 1100; count += count < 40 ? 1 : 53) {
    for (int kind = 0; kind < 6; ++kind) {
      std::vector<double> values(count);
      for (auto& value : values) {
        const double u = uniform(random);
        if (kind == 0) value = u;                                                  // even
        if (kind == 1) value = std::exp(-40 * u);                                  // over many powers of ten
        if (kind == 2) value = std::floor(4 * u);                                  // ties, zeros
        if (kind == 3) value = u < 0.5 ? 0.0 : 1e-310 * u;                         // subnormal
        if (kind == 4) value = 3.25;                                               // all alike
        if (kind == 5) value = u < 0.01 ? 1e300 : 1 + 1e-15 * std::floor(10 * u);  // close by, and far
      }
      EXPECT_EQ(median.of(values), by_sorting(values)) << count << " of kind " << kind;
    }
  }
}

}  // namespace
}  // namespace buoy::stats

#include "buoy/tensor/logarithms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace buoy {
namespace {

TEST(Logarithms, AreThoseOfTheLibraryToAFewUnits) {
  std::vector<double> values = {1.0, 2.0, 0.5, std::exp(1.0), 1e-300, 1e300, 0.9999999, 1.0000001};
  for (int k = 0; k < 1000; ++k) values.push_back(std::exp(-0.02 * k) * (1 + 1e-3 * k));
  std::vector<double> found(values.size());
  logarithms(values, found);
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = std::log(values[i]);
    const double unit = std::numeric_limits<double>::epsilon() * std::max(std::abs(expected), 1e-7);
    EXPECT_NEAR(found[i], expected, 4 * unit) << values[i];
  }
}

// Whatever stands beside it, and however many there are.
TEST(Logarithms, OfAValueDoNotDependOnItsPlace) {
  std::vector<double> values;
  for (int k = 1; k < 40; ++k) values.push_back(0.01 * k);
  std::vector<double> all(values.size());
  logarithms(values, all);
  for (size_t count = 1; count <= values.size(); ++count) {
    std::vector<double> some(values.end() - static_cast<std::ptrdiff_t>(count), values.end());
    logarithms(some, some);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(some[i], all[values.size() - count + i]);
  }
}

}  // namespace
}  // namespace buoy

#include "buoy/stats/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "buoy/base/error.h"

namespace buoy::stats {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Moments, AreThoseOfTheValuesAndPassOverNaN) {
  Moments moments(3);
  for (const double value : {1.0, 3.0, kNaN, 5.0, 7.0}) moments.add({value, 2, kNaN});
  EXPECT_EQ(moments.count(0), 4);
  EXPECT_EQ(moments.mean(0), 4);
  EXPECT_DOUBLE_EQ(moments.deviation(0), std::sqrt(5.0));
  EXPECT_EQ(moments.count(1), 5);
  EXPECT_EQ(moments.deviation(1), 0);
  EXPECT_EQ(moments.count(2), 0);
  EXPECT_TRUE(std::isnan(moments.mean(2)));
  EXPECT_TRUE(std::isnan(moments.deviation(2)));
}

// Halves and small integers: sums are exact, whatever their order.
TEST(Moments, OfSeveralAddedAreThoseOfAllValues) {
  Moments all(2), first(2), second(2), together(2);
  for (int i = 0; i < 20; ++i) {
    const double value = 0.5 * i - 3;
    all.add(0, value);
    (i % 3 == 0 ? first : second).add(0, value);
    if (i < 4) {  // of the second cell only one has values
      all.add(1, value);
      second.add(1, value);
    }
  }
  together.add(first);
  together.add(second);
  together.add(Moments(2));  // nothing
  for (const std::int64_t cell : {0, 1}) {
    EXPECT_EQ(together.count(cell), all.count(cell));
    EXPECT_EQ(together.mean(cell), all.mean(cell));
    EXPECT_EQ(together.deviation(cell), all.deviation(cell));
  }
  EXPECT_EQ(first.count(0), 7) << "what was added stays as it was";
  Moments other(3);
  EXPECT_THROW(other.add(first), InternalError);
}

}  // namespace
}  // namespace buoy::stats

#include "buoy/analysis/drift/drift_map.h"

#include <gtest/gtest.h>

#include "buoy/result/schema/drift.h"

namespace buoy::analysis {
namespace {

TEST(DriftMap, HasEveryStepOfAnOrdinarySample) {
  EXPECT_EQ(map_stride(1024, 32), 1);
  EXPECT_EQ(map_stride(1024, 128), 1);  // just as many cells as there may be
}

TEST(DriftMap, OfALongSampleHasEveryNthStepUpToTheLast) {
  EXPECT_EQ(map_stride(1025, 128), 2);
  EXPECT_EQ(map_stride(8185, 128), 8);
  EXPECT_EQ(map_stride(200'000, 5), 5);  // the last alone
}

// No more cells than allowed unless one step has more, and not half as many where steps could be had.
TEST(DriftMap, IsAsLargeAsItMayBe) {
  for (std::int64_t tokens = 1; tokens < 300'000; tokens = tokens * 3 / 2 + 1) {
    for (std::int64_t steps = 1; steps < 2000; steps = steps * 2 + 1) {
      const std::int64_t stride = map_stride(tokens, steps), kept = (steps - 1) / stride + 1;
      EXPECT_TRUE(kept == 1 || kept * tokens <= schema::kMostMapCells) << tokens << " x " << steps;
      if (stride > 1) {
        const std::int64_t more = (steps - 1) / (stride - 1) + 1;
        EXPECT_GT(more * tokens, schema::kMostMapCells) << tokens << " x " << steps;
      }
    }
  }
}

}  // namespace
}  // namespace buoy::analysis

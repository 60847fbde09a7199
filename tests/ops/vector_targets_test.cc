#include "buoy/ops/vector_targets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace buoy::ops {
namespace {

TEST(VectorTargets, OneIsUsedAndAllAreNamed) {
  const auto targets = vector_targets();
  EXPECT_EQ(std::count_if(targets.begin(), targets.end(), [](const auto& target) { return target.used; }), 1);
  for (const auto& target : targets) {
    // tools/cross_test reads these lines.
    fmt::print("vector target {}: {}\n", target.name,
               target.used     ? "used"
               : target.usable ? "usable, not used"
                               : "not on this processor");
  }
}

}  // namespace
}  // namespace buoy::ops

// How sinks live where keys become more: the null of a block's steps, counted out.

#include "buoy/analysis/sinks/sink_life.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace buoy::analysis {
namespace {

// One key is drawn of two, then one of four.
TEST(SinkLife, ItsNullDrawsAmongTheKeysThatExist) {
  double stays = 0, in_all = 0, in_any = 0, draws = 0;
  for (std::int32_t first = 0; first < 2; ++first) {
    for (std::int32_t second = 0; second < 4; ++second) {
      draws += 1;
      stays += first == second ? 1 : 0;
      in_all += first == second ? 1 : 0;
      in_any += first == second ? 1 : 2;
    }
  }
  SinkLife life;
  life.add({1}, 2);
  life.add({3}, 4);
  EXPECT_DOUBLE_EQ(life.stays().null, stays / draws);
  EXPECT_DOUBLE_EQ(life.always().null, in_all / in_any);
  EXPECT_EQ(life.stays().value, 0);
  EXPECT_EQ(life.moves().value, 1);
  EXPECT_EQ(life.always().value, 0);
}

// Three steps of two sinks: the last key came at the second.
TEST(SinkLife, ItsNullHoldsForSeveralSinks) {
  const std::vector<std::vector<std::int32_t>> of_three = {{0, 1}, {0, 2}, {1, 2}},
                                               of_four = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  double in_all = 0, in_any = 0;
  for (const auto& a : of_three) {
    for (const auto& b : of_four) {
      for (const auto& c : of_four) {
        for (std::int32_t key = 0; key < 4; ++key) {
          const auto has = [&](const auto& set) {
            return std::find(set.begin(), set.end(), key) != set.end();
          };
          in_all += has(a) && has(b) && has(c) ? 1 : 0;
          in_any += has(a) || has(b) || has(c) ? 1 : 0;
        }
      }
    }
  }
  SinkLife life;
  life.add({0, 1}, 3);
  life.add({0, 3}, 4);
  life.add({0, 2}, 4);
  EXPECT_DOUBLE_EQ(life.always().null, in_all / in_any);
  EXPECT_DOUBLE_EQ(life.always().value, 1.0 / 4);
}

}  // namespace
}  // namespace buoy::analysis

#include "buoy/base/side_by_side.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/fails_with.h"

namespace buoy {
namespace {

using testing::fails_with;

TEST(SideBySide, EveryNumberOnce) {
  for (const std::size_t count : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> runs(count);
    run_side_by_side(count, [&](std::size_t number) { ++runs.at(number); });
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(runs[i], 1) << i << " of " << count;
  }
}

TEST(SideBySide, OneTaskRunsInTheThreadThatAsks) {
  std::thread::id where;
  run_side_by_side(1, [&](std::size_t) { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(SideBySide, AnExceptionComesAfterAllHaveEnded) {
  std::atomic<int> ended = 0;
  EXPECT_TRUE(fails_with<std::runtime_error>(
      [&] {
        run_side_by_side(100, [&](std::size_t number) {
          ++ended;
          if (number == 3) throw std::runtime_error("task 3");
        });
      },
      {"task 3"}));
  EXPECT_EQ(ended, 100);
}

TEST(SideBySide, OfSeveralExceptionsOneComes) {
  std::atomic<int> ended = 0;
  EXPECT_TRUE(fails_with<std::runtime_error>(
      [&] {
        run_side_by_side(50, [&](std::size_t number) {
          ++ended;
          throw std::runtime_error("task " + std::to_string(number));
        });
      },
      {"task "}));
  EXPECT_EQ(ended, 50);
}

TEST(SideBySide, TasksMayRunTasksSideBySide) {
  std::vector<std::atomic<int>> runs(60);
  run_side_by_side(6, [&](std::size_t outer) {
    run_side_by_side(10, [&](std::size_t inner) { ++runs[10 * outer + inner]; });
  });
  for (const auto& one : runs) EXPECT_EQ(one, 1);
}

}  // namespace
}  // namespace buoy

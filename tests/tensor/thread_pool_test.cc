#include "buoy/tensor/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "buoy/base/error.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using testing::fails_with;

// How often each task ran; and whether each thread number was one of the pool's.
struct Tally {
  explicit Tally(std::int64_t count) : runs(static_cast<size_t>(count)) {}
  std::vector<std::atomic<int>> runs;
  std::atomic<int> strangers = 0;
};

void run_and_expect_each_once(ThreadPool& pool, std::int64_t count) {
  Tally tally(count);
  pool.run(count, [&](std::int64_t number, int thread) {
    ++tally.runs.at(static_cast<size_t>(number));
    if (thread < 0 || thread >= pool.size()) ++tally.strangers;
  });
  for (std::int64_t i = 0; i < count; ++i) {
    ASSERT_EQ(tally.runs[static_cast<size_t>(i)], 1) << "task " << i << " of " << count;
  }
  EXPECT_EQ(tally.strangers, 0);
}

// A machine that starts two threads and no more.
TEST(ThreadPool, WorksWithTheThreadsThatDidStart) {
  for (const bool out_of_memory : {false, true}) {
    int started = 0;
    ThreadPool pool(8, [&](std::function<void()> work) {
      if (started == 2 && out_of_memory) throw std::bad_alloc();
      if (started == 2)
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      ++started;
      return std::thread(std::move(work));
    });
    EXPECT_EQ(pool.size(), 3);
    run_and_expect_each_once(pool, 100);
  }
}

class ThreadPoolOf : public ::testing::TestWithParam<int> {};

TEST_P(ThreadPoolOf, HasTheSizeItWasGiven) {
  EXPECT_EQ(ThreadPool(GetParam()).size(), GetParam());
}

TEST_P(ThreadPoolOf, RunsEveryTaskOnce) {
  ThreadPool pool(GetParam());
  for (const std::int64_t count : {1, 2, 3, 7, 8, 9, 100, 10'000}) run_and_expect_each_once(pool, count);
}

TEST_P(ThreadPoolOf, RunsNothingForNoTasks) {
  ThreadPool pool(GetParam());
  int ran = 0;
  pool.run(0, [&](std::int64_t, int) { ++ran; });
  pool.run(-3, [&](std::int64_t, int) { ++ran; });
  EXPECT_EQ(ran, 0);
}

TEST_P(ThreadPoolOf, ReturnsOnlyWhenAllTasksAreDone) {
  ThreadPool pool(GetParam());
  for (int repeat = 0; repeat < 500; ++repeat) {
    std::vector<int> written(16);  // not atomic: run() itself must order these writes before the reads
    pool.run(16, [&](std::int64_t number, int) { written[static_cast<size_t>(number)] = 1; });
    for (const int value : written) ASSERT_EQ(value, 1);
  }
}

TEST_P(ThreadPoolOf, RethrowsWhatATaskThrew) {
  ThreadPool pool(GetParam());
  for (const std::int64_t thrower : {0, 1, 50, 99}) {
    const auto run = [&] {
      pool.run(100, [&](std::int64_t number, int) {
        if (number == thrower) throw std::out_of_range("task " + std::to_string(number));
      });
    };
    EXPECT_TRUE(fails_with<std::out_of_range>(run, {"task " + std::to_string(thrower)}));
  }
}

TEST_P(ThreadPoolOf, RethrowsOneErrorWhenEveryTaskThrows) {
  ThreadPool pool(GetParam());
  const auto run = [&] { pool.run(1000, [](std::int64_t, int) { throw std::out_of_range("task"); }); };
  EXPECT_TRUE(fails_with<std::out_of_range>(run, {"task"}));
}

TEST_P(ThreadPoolOf, StartsNoNewTasksAfterAnError) {
  ThreadPool pool(GetParam());
  std::atomic<int> ran = 0;
  EXPECT_THROW(pool.run(1'000'000,
                        [&](std::int64_t, int) {
                          ++ran;
                          throw std::runtime_error("");
                        }),
               std::runtime_error);
  EXPECT_LE(ran, GetParam());
}

TEST_P(ThreadPoolOf, WorksAfterAnError) {
  ThreadPool pool(GetParam());
  for (int repeat = 0; repeat < 50; ++repeat) {
    EXPECT_THROW(pool.run(8, [](std::int64_t, int) { throw std::runtime_error(""); }), std::runtime_error);
    run_and_expect_each_once(pool, 33);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolOf, ::testing::Values(1, 2, 3, 8),
                         [](const auto& test) { return std::to_string(test.param); });

TEST(ThreadPool, RefusesARunInsideARun) {
  ThreadPool pool(2);
  const auto nested = [&] { pool.run(2, [&](std::int64_t, int) { pool.run(2, [](std::int64_t, int) {}); }); };
  EXPECT_TRUE(fails_with<InternalError>(nested, {"broken promise"}));
  run_and_expect_each_once(pool, 10);
}

TEST(ThreadPool, RefusesToHaveNoThreads) {
  EXPECT_TRUE(fails_with<InternalError>([] { ThreadPool pool(0); }, {"broken promise"}));
}

TEST(ThreadPool, AtLeastOneThreadIsAvailable) {
  EXPECT_GE(available_threads(), 1);
}

}  // namespace
}  // namespace buoy

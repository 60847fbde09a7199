// Order within a lane, lanes side by side, the limit of weight, and what happens behind an exception.
#include "buoy/tensor/lane_executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "buoy/base/error.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using testing::fails_with;
using Lane = LaneExecutor::Lane;

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
constexpr auto kLong = std::chrono::seconds(60);          // what must happen has happened by then
constexpr auto kAMoment = std::chrono::milliseconds(50);  // what must not happen is waited for

bool comes(std::future<void>& what, std::chrono::milliseconds within) {
  return what.wait_for(within) == std::future_status::ready;
}

TEST(LaneExecutor, TasksOfALaneRunOneAfterTheOtherInTheirOrder) {
  for (const int threads : {1, 3, 8}) {
    constexpr int kLanes = 5, kTasks = 400;
    std::vector<Lane> lanes(kLanes);
    std::vector<std::vector<int>> order(kLanes);
    std::vector<std::atomic<int>> inside(kLanes);
    std::atomic<int> overlaps = 0, strangers = 0;
    LaneExecutor executor(threads, kNoLimit);
    EXPECT_EQ(executor.threads(), threads);
    for (int i = 0; i < kTasks; ++i) {
      for (size_t l = 0; l < kLanes; ++l) {
        executor.post(lanes[l], [&, l, i](int thread) {
          if (inside[l]++ != 0) ++overlaps;
          if (thread < 0 || thread >= threads) ++strangers;
          order[l].push_back(i);
          --inside[l];
        });
      }
    }
    executor.wait();
    EXPECT_EQ(overlaps, 0);
    EXPECT_EQ(strangers, 0);
    for (const auto& one : order) {
      ASSERT_EQ(one.size(), kTasks);
      EXPECT_TRUE(std::is_sorted(one.begin(), one.end()));
    }
    EXPECT_FALSE(executor.failed());
  }
}

// Each waits for the other: they end only when they run at the same time.
TEST(LaneExecutor, LanesRunSideBySide) {
  Lane first, second;
  std::latch both(2);
  LaneExecutor executor(2, kNoLimit);
  for (Lane* lane : {&first, &second}) executor.post(*lane, [&](int) { both.arrive_and_wait(); });
  executor.wait();
  EXPECT_TRUE(both.try_wait());
}

TEST(LaneExecutor, WhoeverExceedsTheLimitWaits) {
  Lane lane;
  std::promise<void> go;
  const auto gate = go.get_future().share();
  std::atomic<int> ran = 0;
  LaneExecutor executor(2, 10);
  const auto task = [&](int) {
    gate.wait();
    ++ran;
  };
  executor.post(lane, task, 6);
  executor.post(lane, task, 4);  // exactly the limit
  executor.post(lane, task, 0);  // what weighs nothing never waits
  auto posted = std::async(std::launch::async, [&] { executor.post(lane, task, 1); });
  EXPECT_FALSE(comes(posted, kAMoment)) << "11 of 10";
  EXPECT_EQ(ran, 0);
  go.set_value();
  ASSERT_TRUE(comes(posted, kLong));
  posted.get();
  executor.wait();
  EXPECT_EQ(ran, 4);
}

TEST(LaneExecutor, ATaskHeavierThanTheLimitRunsAlone) {
  Lane light, heavy;
  std::promise<void> go;
  const auto gate = go.get_future().share();
  std::atomic<bool> light_done = false, was_alone = false;
  LaneExecutor executor(2, 10);
  executor.post(
      light,
      [&](int) {
        gate.wait();
        light_done = true;
      },
      1);
  auto posted = std::async(std::launch::async, [&] {
    executor.post(
        heavy, [&](int) { was_alone = light_done.load(); }, 1000);
  });
  EXPECT_FALSE(comes(posted, kAMoment));
  go.set_value();
  ASSERT_TRUE(comes(posted, kLong));
  executor.wait();
  EXPECT_TRUE(was_alone);
  executor.post(
      light, [](int) {}, 10);  // its weight is gone
  executor.wait();
}

// The weight of a task stands for memory that it holds.
TEST(LaneExecutor, WhatATaskHoldsIsGoneBeforeItsWeightIs) {
  Lane lane;
  LaneExecutor executor(2, 1);
  std::weak_ptr<int> before;
  for (int i = 0; i < 200; ++i) {
    auto held = std::make_shared<int>(i);
    std::weak_ptr<int> seen = held;
    executor.post(
        lane, [held = std::move(held)](int) {}, 1);
    EXPECT_TRUE(before.expired()) << i;
    before = seen;
  }
  executor.wait();
}

TEST(LaneExecutor, AnExceptionReachesWaitAndPostAndNothingRunsBehindIt) {
  Lane lane, other;
  std::atomic<int> later = 0;
  std::promise<void> go;
  const auto gate = go.get_future().share();
  LaneExecutor executor(2, kNoLimit);
  executor.post(lane, [&](int) {
    gate.wait();
    throw_input_error({"record", "numbers", "none"});
  });
  for (int i = 0; i < 20; ++i) executor.post(lane, [&](int) { ++later; });
  go.set_value();
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(fails_with<InputError>([&] { executor.wait(); }, {"record", "numbers", "none"}));
  EXPECT_EQ(later, 0) << "tasks behind the one that threw";
  EXPECT_TRUE(executor.failed());
  EXPECT_TRUE(fails_with<InputError>([&] { executor.post(other, [&](int) { ++later; }); }, {"record"}));
  EXPECT_TRUE(fails_with<InputError>([&] { executor.wait(); }, {"record"}));
  EXPECT_EQ(later, 0);
}

TEST(LaneExecutor, WhoeverWaitsForRoomHearsOfAnException) {
  Lane lane, other;
  std::promise<void> go;
  const auto gate = go.get_future().share();
  LaneExecutor executor(1, 10);
  executor.post(
      lane,
      [&](int) {
        gate.wait();
        throw std::runtime_error("full");
      },
      10);
  std::atomic<bool> ran = false;
  auto posted = std::async(std::launch::async, [&] {
    executor.post(
        other, [&](int) { ran = true; }, 5);
  });
  EXPECT_FALSE(comes(posted, kAMoment));
  go.set_value();
  EXPECT_TRUE(fails_with<std::runtime_error>([&] { posted.get(); }, {"full"}));
  EXPECT_THROW(executor.wait(), std::runtime_error);
  EXPECT_FALSE(ran);
}

TEST(LaneExecutor, TasksGiveTasksThatWeighNothing) {
  for (const int threads : {0, 1, 4}) {
    std::vector<Lane> lanes(3);
    Lane last;
    std::atomic<int> done = 0;
    std::vector<int> order;
    LaneExecutor executor(threads, 1);
    for (int i = 0; i < 30; ++i) {
      executor.post(
          lanes[static_cast<size_t>(i) % lanes.size()],
          [&, i](int) {
            executor.post(last, [&, i](int) {
              order.push_back(i);
              executor.post(lanes[0], [&](int) { ++done; });
            });
          },
          1);  // the limit: its place is taken while it gives the next
    }
    executor.wait();
    EXPECT_EQ(done, 30) << threads;
    EXPECT_EQ(order.size(), 30u);
  }
}

TEST(LaneExecutor, WithoutThreadsTasksRunAtOnce) {
  Lane lane;
  LaneExecutor executor(0, 1);
  EXPECT_EQ(executor.threads(), 1);
  const auto here = std::this_thread::get_id();
  int ran = 0;
  for (int i = 0; i < 3; ++i) {
    executor.post(
        lane,
        [&](int thread) {
          EXPECT_EQ(thread, 0);
          EXPECT_EQ(std::this_thread::get_id(), here);
          ++ran;
        },
        100);
    EXPECT_EQ(ran, i + 1);
  }
  executor.wait();
  EXPECT_FALSE(executor.failed());
}

TEST(LaneExecutor, WithoutThreadsAnExceptionEndsItToo) {
  Lane lane;
  LaneExecutor executor(0, 1);
  bool ran = false;
  EXPECT_TRUE(fails_with<std::runtime_error>(
      [&] { executor.post(lane, [](int) { throw std::runtime_error("no"); }); }, {"no"}));
  EXPECT_TRUE(executor.failed());
  EXPECT_THROW(executor.post(lane, [&](int) { ran = true; }), std::runtime_error);
  EXPECT_THROW(executor.wait(), std::runtime_error);
  EXPECT_FALSE(ran);
}

// A machine that starts two threads, or none, and no more.
TEST(LaneExecutor, WorksWithTheThreadsThatDidStart) {
  for (const int most : {0, 2}) {
    int started = 0;
    std::vector<Lane> lanes(4);
    std::atomic<int> ran = 0;
    LaneExecutor executor(8, kNoLimit, [&](std::function<void()> work) {
      if (started == most)
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      ++started;
      return std::thread(std::move(work));
    });
    EXPECT_EQ(executor.threads(), std::max(most, 1));
    for (int i = 0; i < 100; ++i) executor.post(lanes[static_cast<size_t>(i) % 4], [&](int) { ++ran; });
    executor.wait();
    EXPECT_EQ(ran, 100);
  }
}

TEST(LaneExecutor, TheDestructorDropsWhatHasNotBegun) {
  const auto held = std::make_shared<int>(0);
  std::atomic<int> ran = 0;
  std::promise<void> begun, go;
  const auto gate = go.get_future().share();
  std::future<void> opened;
  {
    std::vector<Lane> lanes(3);  // they stay as long as the executor
    LaneExecutor executor(1, kNoLimit);
    executor.post(lanes[0], [&](int) {
      begun.set_value();
      gate.wait();
      ++ran;
    });
    for (int i = 0; i < 30; ++i) executor.post(lanes[static_cast<size_t>(i) % 3], [&, held](int) { ++ran; });
    begun.get_future().wait();
    opened = std::async(std::launch::async, [&] {
      std::this_thread::sleep_for(kAMoment);  // by then the destructor runs
      go.set_value();
    });
  }
  EXPECT_EQ(ran, 1) << "the one that had begun ends, and no other runs";
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace buoy

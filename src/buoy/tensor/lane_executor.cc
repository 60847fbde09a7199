#include "buoy/tensor/lane_executor.h"

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <exception>
#include <utility>

#include "buoy/base/say.h"

namespace buoy {
namespace {

// The thread that gives the tasks, and those that work for it, come first where cores are few. Linux has a
// priority for each thread; elsewhere all are alike.
void yield_to_others() {
#ifdef __linux__
  constexpr int kNice = 10;
  setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
#endif
}

}  // namespace

LaneExecutor::LaneExecutor(int threads, std::uint64_t most_weight, const StartThread& start)
    : most_weight_(most_weight) {
  workers_.reserve(static_cast<size_t>(threads));
  try {
    for (int i = 0; i < threads; ++i) workers_.push_back(start([this, i] { work(i); }));
  } catch (const std::exception& refusal) {
    say("note: only {} of {} threads could be started for analyses: {}\n", workers_.size(), threads,
        refusal.what());
  }
}

LaneExecutor::~LaneExecutor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  due_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void LaneExecutor::post(Lane& lane, Task task, std::uint64_t weight) {
  std::unique_lock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  if (workers_.empty()) {
    lock.unlock();
    run_here(task);
    return;
  }
  // A single task may weigh more than the limit.
  done_.wait(lock,
             [&] { return weight == 0 || weight_ == 0 || weight_ + weight <= most_weight_ || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  weight_ += weight;
  ++unfinished_;
  lane.tasks_.push_back({std::move(task), weight});
  if (lane.queued_) return;
  lane.queued_ = true;
  lanes_.push_back(&lane);
  due_.notify_one();
}

void LaneExecutor::run_here(const Task& task) {
  try {
    task(0);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    throw;
  }
}

void LaneExecutor::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return unfinished_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

bool LaneExecutor::failed() {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr;
}

void LaneExecutor::work(int thread) {
  yield_to_others();
  std::unique_lock lock(mutex_);
  for (;;) {
    due_.wait(lock, [&] { return stopping_ || !lanes_.empty(); });
    if (stopping_) return;
    run_one(lock, thread);
  }
}

void LaneExecutor::run_one(std::unique_lock<std::mutex>& lock, int thread) {
  Lane& lane = *lanes_.front();
  lanes_.pop_front();
  Lane::Waiting now = std::move(lane.tasks_.front());
  lane.tasks_.pop_front();
  const bool skip = failure_ != nullptr;
  lock.unlock();
  std::exception_ptr thrown;
  try {
    if (!skip) now.task(thread);
  } catch (...) {
    thrown = std::current_exception();
  }
  now.task = nullptr;  // what it holds goes before its weight does
  lock.lock();
  if (thrown && !failure_) failure_ = thrown;
  weight_ -= now.weight;
  --unfinished_;
  if (lane.tasks_.empty()) {
    lane.queued_ = false;
  } else {
    lanes_.push_back(&lane);
    due_.notify_one();
  }
  done_.notify_all();
}

}  // namespace buoy

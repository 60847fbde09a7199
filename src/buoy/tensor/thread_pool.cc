#include "buoy/tensor/thread_pool.h"

#include <sched.h>
#include <cstdlib>

#include <algorithm>
#include <exception>

#include "buoy/base/error.h"
#include "buoy/base/say.h"

namespace buoy {

ThreadPool::ThreadPool(int threads, const StartThread& start) {
  BUOY_CHECK(threads >= 1);
  workers_.reserve(static_cast<size_t>(threads - 1));
  try {
    for (int thread = 1; thread < threads; ++thread)
      workers_.push_back(start([this, thread] { work(thread); }));
  } catch (const std::exception& refusal) {
    say("note: only {} of {} threads could be started: {}\n", size(), threads, refusal.what());
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::run(std::int64_t count, const std::function<void(std::int64_t, int)>& task) {
  if (count <= 0) return;
  if (workers_.empty() || count == 1) {
    for (std::int64_t number = 0; number < count; ++number) task(number, 0);
    return;
  }
  std::unique_lock lock(mutex_);
  BUOY_CHECK(job_.task == nullptr);
  job_ = Job{&task, count, 0, 0, nullptr};
  ++generation_;
  wake_.notify_all();
  drain(lock, 0);
  idle_.wait(lock, [this] { return job_.busy == 0; });
  const std::exception_ptr failure = job_.failure;
  job_ = Job{};
  if (failure) std::rethrow_exception(failure);
}

void ThreadPool::work(int thread) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
    if (stopping_) return;
    seen = generation_;
    if (job_.task != nullptr) drain(lock, thread);
  }
}

void ThreadPool::drain(std::unique_lock<std::mutex>& lock, int thread) {
  ++job_.busy;
  while (job_.next < job_.count) {
    const std::int64_t number = job_.next++;
    const auto* task = job_.task;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*task)(number, thread);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) {
      if (!job_.failure) job_.failure = failure;
      job_.next = job_.count;
    }
  }
  if (--job_.busy == 0) idle_.notify_all();
}

int default_threads() {
  constexpr int kMost = 4096;
  const char* asked = std::getenv("BUOY_THREADS");
  const int count = asked == nullptr ? 0 : std::atoi(asked);
  return count > 0 ? std::min(count, kMost) : available_threads();
}

int available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace buoy

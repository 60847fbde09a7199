#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace buoy {

// Runs numbered tasks on a fixed set of threads. Tasks of one call must not write the same memory, so
// the result never depends on which thread ran what.
class ThreadPool {
 public:
  using StartThread = std::function<std::thread(std::function<void()>)>;

  // Where the machine refuses to start that many threads (a limit on processes, memory), those that did start
  // do the work, and standard error says so.
  explicit ThreadPool(int threads, const StartThread& start = start_thread);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls task(number, thread) for every number in [0, count), thread in [0, size()). Returns when all
  // are done; rethrows the first exception. Not reentrant.
  void run(std::int64_t count, const std::function<void(std::int64_t number, int thread)>& task);

 private:
  static std::thread start_thread(std::function<void()> work) { return std::thread(std::move(work)); }

  struct Job {
    const std::function<void(std::int64_t, int)>* task = nullptr;
    std::int64_t count = 0;
    std::int64_t next = 0;
    int busy = 0;
    std::exception_ptr failure;
  };

  void work(int thread);
  void drain(std::unique_lock<std::mutex>& lock, int thread);

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  Job job_;
  std::uint64_t generation_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

// Cores this process may use.
int available_threads();
// How many a process uses that is not told: BUOY_THREADS, or all cores.
int default_threads();

}  // namespace buoy

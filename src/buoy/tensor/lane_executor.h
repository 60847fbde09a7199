#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace buoy {

// Runs tasks behind the back of the thread that gives them, on threads of its own. Tasks of one lane run one
// after the other, in the order given; different lanes run side by side. Every task has a weight (bytes,
// say): where those that wait or run would weigh more than the limit, whoever gives the next one waits.
class LaneExecutor {
 public:
  using Task = std::function<void(int thread)>;  // thread in [0, threads())
  using StartThread = std::function<std::thread(std::function<void()>)>;

  class Lane {
   public:
    Lane() = default;
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

   private:
    friend class LaneExecutor;
    struct Waiting {
      Task task;
      std::uint64_t weight;
    };
    std::deque<Waiting> tasks_;
    bool queued_ = false;  // it is due, or at work
  };

  // With no threads, tasks run at once in the thread that gives them. Where the machine refuses to start that
  // many, those that did start do the work, and standard error says so.
  LaneExecutor(int threads, std::uint64_t most_weight, const StartThread& start = start_thread);
  ~LaneExecutor();  // drops what has not begun
  LaneExecutor(const LaneExecutor&) = delete;
  LaneExecutor& operator=(const LaneExecutor&) = delete;

  int threads() const { return workers_.empty() ? 1 : static_cast<int>(workers_.size()); }

  // The lane must stay as long as the executor. Rethrows what an earlier task threw: no task runs after that.
  // Tasks may give tasks that weigh nothing.
  void post(Lane& lane, Task task, std::uint64_t weight = 0);
  // Waits until nothing is left to do; rethrows likewise.
  void wait();
  bool failed();  // a task threw

 private:
  static std::thread start_thread(std::function<void()> work) { return std::thread(std::move(work)); }

  void run_here(const Task& task);
  void work(int thread);
  void run_one(std::unique_lock<std::mutex>& lock, int thread);

  const std::uint64_t most_weight_;
  std::mutex mutex_;
  std::condition_variable due_, done_;
  std::deque<Lane*> lanes_;  // with a task to run, none of them at work
  std::uint64_t weight_ = 0;
  std::int64_t unfinished_ = 0;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace buoy

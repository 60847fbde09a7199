#include "buoy/run/sample_workers.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "buoy/model/memory.h"

namespace buoy::run {
namespace {

// Tasks by number, run one at a time in the order of their numbers by whoever brings the one that is due.
class InOrder {
 public:
  InOrder(std::size_t count, std::size_t most_ahead) : count_(count), most_ahead_(most_ahead) {}

  // The next number to prepare; waits while too many are prepared ahead of the one that is due.
  bool next(std::size_t& number) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return failure_ || given_ == count_ || given_ < due_ + most_ahead_; });
    if (failure_ || given_ == count_) return false;
    number = given_++;
    return true;
  }

  void put(std::size_t number, SampleWorkers::Task task) {
    std::unique_lock lock(mutex_);
    ready_[number] = std::move(task);
    while (!running_ && !failure_ && !ready_.empty() && ready_.begin()->first == due_) {
      SampleWorkers::Task now = std::move(ready_.begin()->second);
      ready_.erase(ready_.begin());
      running_ = true;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        now();
      } catch (...) {
        thrown = std::current_exception();
      }
      now = nullptr;
      lock.lock();
      running_ = false;
      failure_ = thrown;
      ++due_;
      moved_.notify_all();
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::size_t count_, most_ahead_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::size_t given_ = 0, due_ = 0;
  std::map<std::size_t, SampleWorkers::Task> ready_;
  bool running_ = false;
  std::exception_ptr failure_;
};

}  // namespace

int samples_at_once(const model::Model& model, int threads, std::size_t samples, std::int64_t tokens) {
  if (model.device() != Device::kCpu) return 1;
  const double forward =
      static_cast<double>(model::parameters_of(model.config())) * static_cast<double>(tokens);
  if (forward >= kSmallForward) return 1;
  return static_cast<int>(
      std::clamp<std::size_t>(samples, 1, static_cast<std::size_t>(std::max(threads, 1))));
}

SampleWorkers::SampleWorkers(const Context& context, LoadedModel& model, int count)
    : context_(context), model_(model) {
  if (count <= 1) return;
  const int threads = context.threads.size();
  for (int i = 0; i < count; ++i) {
    const int own = threads / count + (i < threads % count ? 1 : 0);
    workers_.push_back(std::make_unique<Worker>(std::max(own, 1), model));
  }
}

const Context& SampleWorkers::context(int worker) const {
  return workers_.empty() ? context_ : workers_[static_cast<std::size_t>(worker)]->context;
}

LoadedModel& SampleWorkers::model(int worker) {
  return workers_.empty() ? model_ : workers_[static_cast<std::size_t>(worker)]->model;
}

void SampleWorkers::run(const std::function<void(int worker)>& work) {
  if (workers_.empty()) return work(0);
  ThreadPool threads(count());
  threads.run(count(), [&](std::int64_t worker, int) { work(static_cast<int>(worker)); });
}

void SampleWorkers::run_in_order(std::size_t count,
                                 const std::function<Task(std::size_t number, int worker)>& prepare) {
  InOrder order(count, 2 * static_cast<std::size_t>(this->count()));
  run([&](int worker) {
    for (std::size_t number = 0; order.next(number);) {
      Task task;
      try {
        task = prepare(number, worker);
      } catch (...) {
        task = [thrown = std::current_exception()] { std::rethrow_exception(thrown); };
      }
      order.put(number, std::move(task));
    }
  });
  order.rethrow();
}

}  // namespace buoy::run

#include "interruptible.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

namespace py = pybind11;

namespace buoy::python {
namespace {

struct GivenUp {};

// Of the thread that holds the GIL.
void show(const py::object& progress, Watch& watch) {
  for (const auto& news : watch.news()) {
    if (!progress.is_none()) progress(news.stage, news.label, news.done, news.total);
  }
}

}  // namespace

void Watch::give_up_if_stopped() const {
  if (stop_) throw GivenUp{};
}

void Watch::take(const std::string& stage, const std::string& label, std::int64_t done, std::int64_t total) {
  give_up_if_stopped();
  const std::lock_guard lock(mutex_);
  if (news_.empty() || news_.back().stage != stage || news_.back().label != label) news_.emplace_back();
  news_.back() = {stage, label, done, total};
}

std::vector<Watch::News> Watch::news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

void interruptible(const py::object& progress, const std::function<void(Watch& watch)>& work) {
  Watch watch;
  std::exception_ptr error;
  std::optional<py::error_already_set> raised;
  {
    py::gil_scoped_release released;
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::thread worker([&] {
      try {
        work(watch);
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      changed.notify_all();
    });
    for (bool waiting = true; waiting;) {
      {
        std::unique_lock lock(mutex);
        waiting = !changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; });
      }
      if (!waiting || watch.stopped()) continue;
      py::gil_scoped_acquire acquired;
      try {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        show(progress, watch);
      } catch (py::error_already_set& one) {
        raised.emplace(one);
        watch.stop();
      }
    }
    worker.join();
  }
  if (raised) throw *raised;
  if (error) std::rethrow_exception(error);
  show(progress, watch);
}

}  // namespace buoy::python

#include "interruptible.h"

#include <pybind11/pybind11.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace py = pybind11;

namespace buoy::python {
namespace {

struct GivenUp {};

}  // namespace

void give_up_if(const std::atomic<bool>& stop) {
  if (stop) throw GivenUp{};
}

void interruptible(const std::function<void(const std::atomic<bool>& stop)>& work) {
  std::atomic<bool> stop = false;
  std::exception_ptr error;
  std::optional<py::error_already_set> interrupt;
  {
    py::gil_scoped_release released;
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::thread worker([&] {
      try {
        work(stop);
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
      if (!waiting || stop) continue;
      py::gil_scoped_acquire acquired;
      if (PyErr_CheckSignals() != 0) {
        interrupt.emplace();
        stop = true;
      }
    }
    worker.join();
  }
  if (interrupt) throw *interrupt;
  if (error) std::rethrow_exception(error);
}

}  // namespace buoy::python

#include "buoy/base/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace buoy {

void run_side_by_side(std::size_t count, const std::function<void(std::size_t number)>& task) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t number = next++; number < count; number = next++) {
      try {
        task(number);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  const std::size_t most = std::min<std::size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < most; ++i) {
    try {
      others.emplace_back(work);
    } catch (const std::exception&) {
      break;  // those that did start do the work
    }
  }
  work();
  for (auto& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace buoy

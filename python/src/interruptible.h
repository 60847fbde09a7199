#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "buoy/base/progress.h"

namespace buoy::python {

// How long work stands with the thread that waits for it: whether it is to end, and how far it is.
class Watch final : public ProgressListener {
 public:
  struct News {
    std::string stage, label;
    std::int64_t done = 0, total = 0;
  };

  // Ends the work where Ctrl-C came: throws what interruptible() knows.
  void give_up_if_stopped() const;
  void tell(const std::string& label, std::int64_t done, std::int64_t total) { take("", label, done, total); }
  // What Progress says (base/progress.h); also a place to end.
  void take(const std::string& stage, const std::string& label, std::int64_t done,
            std::int64_t total) override;

  void stop() { stop_ = true; }
  bool stopped() const { return stop_; }
  // Since it was asked the last time: how far each kind of work got.
  std::vector<News> news();

 private:
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::vector<News> news_;
};

// Does long work with the GIL released, on another thread, while this one looks for Ctrl-C and calls
// `progress(stage, label, done, total)`, unless it is None. The work looks at the watch now and then; what it
// throws when it was stopped is replaced by Python's KeyboardInterrupt, or by what `progress` raised.
void interruptible(const pybind11::object& progress, const std::function<void(Watch& watch)>& work);

}  // namespace buoy::python

#pragma once

#include <atomic>
#include <functional>

namespace buoy::python {

// Does long work with the GIL released, on another thread, while this one looks for Ctrl-C. The work looks at
// `stop` now and then and calls give_up(); what it throws then is replaced by Python's KeyboardInterrupt.
void interruptible(const std::function<void(const std::atomic<bool>& stop)>& work);

// Throws what interruptible() knows.
void give_up_if(const std::atomic<bool>& stop);

}  // namespace buoy::python

#pragma once

#include <cstddef>
#include <functional>

namespace buoy {

// Calls task(0) to task(count - 1), as many at once as the machine has cores. Tasks must not write the same
// memory. Rethrows the first exception, after all have ended. For work of milliseconds and more: threads are
// made for the call.
void run_side_by_side(std::size_t count, const std::function<void(std::size_t number)>& task);

}  // namespace buoy

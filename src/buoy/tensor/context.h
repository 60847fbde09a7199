#pragma once

#include "buoy/tensor/thread_pool.h"

namespace buoy {

// What an operation runs on. Passed, never global.
struct Context {
  ThreadPool& threads;
};

}  // namespace buoy

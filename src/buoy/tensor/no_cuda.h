#pragma once

#include "buoy/base/error.h"

namespace buoy {

// What every stub of the CUDA backend says.
[[noreturn]] inline void throw_no_cuda() {
  throw UsageError("this build has no device backend: build it with the CMake preset `cuda`");
}

}  // namespace buoy

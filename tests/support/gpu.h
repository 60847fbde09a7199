#pragma once

#include <gtest/gtest.h>

#include "buoy/tensor/device.h"

namespace buoy::testing {

inline bool has_gpu() {
  return has_device_backend() && !usable_devices().empty();
}

}  // namespace buoy::testing

// First line of a test that runs on a GPU.
#define BUOY_NEEDS_GPU() \
  if (!::buoy::testing::has_gpu()) GTEST_SKIP() << "no GPU, or a build without the CUDA backend"

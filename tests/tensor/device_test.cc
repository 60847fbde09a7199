#include "buoy/tensor/device.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

TEST(Device, ModelsRunOnGpusFromAmpereOn) {
  DeviceInfo device;
  device.major = 7, device.minor = 5;
  EXPECT_FALSE(can_run_models(device));
  device.major = 8, device.minor = 0;
  EXPECT_TRUE(can_run_models(device));
  device.major = 12;
  EXPECT_TRUE(can_run_models(device));
}

TEST(Device, NamesAreCpuCudaAndAuto) {
  EXPECT_EQ(device_from_name("cpu"), Device::kCpu);
  EXPECT_TRUE(
      testing::fails_with<UsageError>([] { device_from_name("tpu"); }, {"`device`", "auto", "\"tpu\""}));
}

}  // namespace
}  // namespace buoy

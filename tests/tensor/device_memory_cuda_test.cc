#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/tensor/device_memory.h"
#include "support/gpu.h"

namespace buoy {
namespace {

TEST(DeviceMemoryCuda, ThereAndBack) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  std::vector<int> numbers(1000), back(1000);
  std::iota(numbers.begin(), numbers.end(), 5);
  const DeviceMemory first(4000), second(4000);
  copy_to_device(stream, first.data(), numbers.data(), 4000);
  copy_on_device(stream, second.data(), first.data(), 4000);
  copy_to_host(stream, back.data(), second.data(), 4000);
  stream.synchronize();
  EXPECT_EQ(back, numbers);
}

TEST(DeviceMemoryCuda, GrowsAndSaysWhatIsMissing) {
  BUOY_NEEDS_GPU();
  DeviceMemory memory(100);
  memory.reserve(50);
  EXPECT_EQ(memory.bytes(), 100u);
  memory.reserve(1000);
  EXPECT_EQ(memory.bytes(), 1000u);
  try {
    memory.reserve(std::size_t{1} << 50);
    FAIL() << "no card has that much";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("expected 1125899906842624 bytes free"), std::string::npos)
        << error.what();
  }
  memory.reserve(10);  // still of use
}

TEST(StreamCuda, GraphsRepeatWhatWasRecorded) {
  BUOY_NEEDS_GPU();
  const Stream stream(Stream::Priority::kUrgent), other;
  const DeviceMemory from(16), to(16);
  fill_bytes(stream, from.data(), 1, 16);
  const Graph graph(stream, [&] { copy_on_device(stream, to.data(), from.data(), 16); });
  fill_bytes(stream, from.data(), 2, 16);
  graph.launch(stream);
  Event done;
  done.record(stream);
  done.hold(other);
  std::vector<unsigned char> back(16);
  copy_to_host(other, back.data(), to.data(), 16);
  other.synchronize();
  EXPECT_EQ(back, std::vector<unsigned char>(16, 2));
}

TEST(DeviceName, OnlyThreeAreKnown) {
  EXPECT_EQ(device_from_name("cpu"), Device::kCpu);
  EXPECT_EQ(device_from_name("auto"), testing::has_gpu() ? Device::kCuda : Device::kCpu);
  EXPECT_THROW(device_from_name("tpu"), UsageError);
  if (!testing::has_gpu()) {
    EXPECT_THROW(device_from_name("cuda"), UsageError);
  }
}

}  // namespace
}  // namespace buoy

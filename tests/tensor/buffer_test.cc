#include "buoy/tensor/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <utility>

namespace buoy {
namespace {

bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 64 == 0;
}

TEST(Buffer, IsAlignedToACacheLine) {
  for (size_t count = 1; count < 200; count += 7) {
    EXPECT_TRUE(is_aligned(Buffer<float>(count).data())) << count;
    EXPECT_TRUE(is_aligned(Buffer<char>(count).data())) << count;
  }
}

TEST(Buffer, StartsEmpty) {
  const Buffer<float> buffer;
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(Buffer, HoldsWhatWasReserved) {
  Buffer<int> buffer(1000);
  for (size_t i = 0; i < 1000; ++i) buffer[i] = static_cast<int>(i);
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(buffer[i], static_cast<int>(i));
}

TEST(Buffer, GrowsButNeverShrinks) {
  Buffer<float> buffer(10);
  float* first = buffer.data();
  EXPECT_EQ(buffer.reserve(5), first);
  EXPECT_EQ(buffer.reserve(10), first);
  EXPECT_EQ(buffer.capacity(), 10u);
  const float* grown = buffer.reserve(1000);
  EXPECT_EQ(grown, buffer.data());
  EXPECT_EQ(buffer.capacity(), 1000u);
  EXPECT_TRUE(is_aligned(buffer.data()));
}

TEST(Buffer, RefusesMoreBytesThanASizeCanCount) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  for (const size_t count : {kMost, kMost / 8, kMost / 8 + 1, kMost / 8 + 9}) {
    Buffer<double> buffer;
    EXPECT_THROW(buffer.reserve(count), std::bad_alloc) << count;
    EXPECT_EQ(buffer.capacity(), 0u);
  }
}

TEST(Buffer, StaysUsableAfterItWasMovedFrom) {
  Buffer<float> first(10);
  const float* data = first.data();
  Buffer<float> second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.capacity(), 10u);
  EXPECT_EQ(first.capacity(), 0u);
  EXPECT_NE(first.reserve(5), nullptr);
  first = std::move(second);
  EXPECT_EQ(first.data(), data);
  EXPECT_EQ(first.capacity(), 10u);
}

}  // namespace
}  // namespace buoy

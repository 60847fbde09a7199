// find_non_finite names the tensor that holds a NaN or an infinity, wherever in it that lies.

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "buoy/checkpoint/checkpoint.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using testing::TempFolder;
using testing::TinyCheckpoint;

std::string found_in(const TinyCheckpoint& tiny, size_t header_remainder = 0) {
  const TempFolder folder;
  tiny.write(folder.path(), header_remainder);
  return Checkpoint::open(folder.path()).find_non_finite();
}

void put(std::string& bytes, size_t element, float value) {
  std::memcpy(bytes.data() + 4 * element, &value, 4);
}

void put_half(std::string& bytes, size_t element, std::uint16_t bits) {
  std::memcpy(bytes.data() + 2 * element, &bits, 2);
}

TEST(FindNonFinite, IsEmptyWhenAllNumbersAreFinite) {
  EXPECT_EQ(found_in(TinyCheckpoint(Family::kLlada)), "");
  EXPECT_EQ(found_in(TinyCheckpoint(Family::kQwen3, "BF16")), "");
}

TEST(FindNonFinite, NamesTheTensorWithANanOrAnInfinity) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
    TinyCheckpoint tiny(Family::kLlama);
    put(tiny.tensor("model.layers.1.mlp.up_proj.weight").bytes, 5, value);
    EXPECT_EQ(found_in(tiny), "model.layers.1.mlp.up_proj.weight");
    EXPECT_EQ(found_in(tiny, 3), "model.layers.1.mlp.up_proj.weight");
  }
}

TEST(FindNonFinite, AcceptsTheLargestFiniteNumbers) {
  TinyCheckpoint tiny(Family::kLlama);
  tiny.tensors = {{"f32", "F32", {1}, std::string(4, '\0')},
                  {"f16", "F16", {1}, std::string("\xFF\x7B", 2)},     // 65504
                  {"bf16", "BF16", {1}, std::string("\x7F\x7F", 2)}};  // 3.39e38
  put(tiny.tensors[0].bytes, 0, std::numeric_limits<float>::max());
  EXPECT_EQ(found_in(tiny), "");
}

TEST(FindNonFinite, LooksAtEveryElementOfALargeTensor) {
  constexpr size_t kCount = 3 * 4096 + 1;
  for (const size_t at : {size_t{0}, size_t{4095}, size_t{4096}, kCount - 1}) {
    TinyCheckpoint tiny(Family::kLlama);
    tiny.tensors = {{"large", "F32", {kCount}, std::string(4 * kCount, '\0')}};
    put(tiny.tensors[0].bytes, at, std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(found_in(tiny), "large") << at;
  }
}

TEST(FindNonFinite, ReadsBothHalfTypes) {
  TinyCheckpoint tiny(Family::kLlama);
  tiny.tensors = {{"f16", "F16", {9}, std::string(18, '\0')}};
  put_half(tiny.tensors[0].bytes, 8, 0x7C00);
  EXPECT_EQ(found_in(tiny), "f16");
  tiny.tensors = {{"bf16", "BF16", {9}, std::string(18, '\0')}};
  put_half(tiny.tensors[0].bytes, 8, 0xFFC0);
  EXPECT_EQ(found_in(tiny), "bf16");
  put_half(tiny.tensors[0].bytes, 8, 0x7C00);  // an infinity in f16, a number in bf16
  EXPECT_EQ(found_in(tiny), "");
}

}  // namespace
}  // namespace buoy

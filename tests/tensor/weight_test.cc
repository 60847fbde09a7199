#include "buoy/tensor/weight.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "buoy/base/error.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using testing::fails_with;

// Numbers that all three types hold exactly.
const std::vector<float> kNumbers = {0.0f, 1.0f, -2.5f, 0.15625f, -0.0f, 128.0f};

std::string stored_as(DType dtype) {
  std::string bytes;
  for (const float value : kNumbers) {
    char element[4];
    const std::uint16_t half = dtype == DType::kBF16 ? float_to_bf16(value) : float_to_f16(value);
    if (dtype == DType::kF32) std::memcpy(element, &value, 4);
    if (dtype != DType::kF32) std::memcpy(element, &half, 2);
    bytes.append(element, size_of(dtype));
  }
  return bytes;
}

class WeightOf : public ::testing::TestWithParam<DType> {
 protected:
  const std::string bytes_ = stored_as(GetParam());
  const Weight weight_{reinterpret_cast<const std::byte*>(bytes_.data()), GetParam(), {2, 3}};
};

TEST_P(WeightOf, GivesItsNumbersAsFloats) {
  std::vector<float> out(6);
  to_float(weight_, 0, 6, out.data());
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(kNumbers[i]));
}

TEST_P(WeightOf, GivesAPartAndWritesNothingElse) {
  std::vector<float> out(4, 99.0f);
  to_float(weight_, 2, 3, out.data());
  EXPECT_EQ(out, (std::vector<float>{kNumbers[2], kNumbers[3], kNumbers[4], 99.0f}));
  to_float(weight_, 6, 0, out.data());
  EXPECT_EQ(out[0], kNumbers[2]);
}

TEST_P(WeightOf, ReadsFromOddAddresses) {
  const std::string shifted = '?' + bytes_;
  const Weight weight{reinterpret_cast<const std::byte*>(shifted.data()) + 1, GetParam(), {6}};
  std::vector<float> out(6);
  to_float(weight, 0, 6, out.data());
  EXPECT_EQ(out, kNumbers);
}

TEST_P(WeightOf, RefusesAPartOutsideItself) {
  float out[8];
  EXPECT_TRUE(fails_with<InternalError>([&] { to_float(weight_, 0, 7, out); }, {"broken promise"}));
  EXPECT_TRUE(fails_with<InternalError>([&] { to_float(weight_, 6, 1, out); }, {"broken promise"}));
  EXPECT_TRUE(fails_with<InternalError>([&] { to_float(weight_, -1, 1, out); }, {"broken promise"}));
  EXPECT_TRUE(fails_with<InternalError>([&] { to_float(weight_, 0, -1, out); }, {"broken promise"}));
}

INSTANTIATE_TEST_SUITE_P(Types, WeightOf, ::testing::Values(DType::kF32, DType::kF16, DType::kBF16),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(Weight, KnowsItsShape) {
  const std::byte byte{};
  const Weight matrix{&byte, DType::kF32, {3, 5}};
  EXPECT_EQ(matrix.rows(), 3);
  EXPECT_EQ(matrix.columns(), 5);
  EXPECT_EQ(matrix.size(), 15);
  EXPECT_FALSE(matrix.empty());
  EXPECT_TRUE(Weight{}.empty());
}

TEST(Weight, DescribesShapes) {
  EXPECT_EQ(describe_shape({4096, 12288}), "[4096, 12288]");
  EXPECT_EQ(describe_shape({7}), "[7]");
  EXPECT_EQ(describe_shape({}), "[]");
}

}  // namespace
}  // namespace buoy

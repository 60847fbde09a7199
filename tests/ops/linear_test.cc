// Matrix products against the reference in double, for every shape of the table and every stored type.

#include <gtest/gtest.h>

#include "ops/linear_data.h"

namespace buoy {
namespace {

using testing::ErrorRatio;
using testing::LinearCase;
using testing::LinearData;

std::vector<float> plain_linear(const ops::LinearArgs& args) {
  const std::int64_t outputs = args.weight->rows(), inputs = args.weight->columns();
  std::vector<float> weight(static_cast<size_t>(args.weight->size())), output;
  to_float(*args.weight, 0, args.weight->size(), weight.data());
  for (std::int64_t m = 0; m < args.rows; ++m) {
    for (std::int64_t n = 0; n < outputs; ++n) {
      const float* x = args.input + m * inputs;
      const float* w = weight.data() + n * inputs;
      float sum = 0;
      for (std::int64_t k = 0; k < inputs; ++k) sum += x[k] * w[k];
      output.push_back(args.bias != nullptr ? sum + args.bias[n] : sum);
    }
  }
  return output;
}

class Linear : public ::testing::TestWithParam<LinearCase> {};

TEST_P(Linear, ErrsAtMostTwiceAsMuchAsAPlainLoop) {
  const LinearCase& c = GetParam();
  ThreadPool threads(2);
  ops::LinearScratch scratch;
  ErrorRatio errors;
  for (std::uint64_t seed = 1; !errors.enough(); seed += 10) {
    const LinearData data(c, seed);
    std::vector<float> ours(static_cast<size_t>(c.rows * c.outputs));
    std::vector<double> exact(ours.size());
    const auto args = data.args(0, c.rows, ours.data());
    ops::linear({threads}, args, scratch);
    ops::linear_reference(args, exact.data());
    errors.add(ours, plain_linear(args), exact);
  }
  errors.expect_at_most_twice("output");
}

INSTANTIATE_TEST_SUITE_P(Cases, Linear, ::testing::ValuesIn(testing::linear_cases()),
                         testing::name_of_case<LinearCase>);

// One input of exactly 1 makes the output the weight itself.
void expect_every_finite_number_read_exactly(DType dtype, float (*to_number)(std::uint16_t)) {
  std::vector<std::uint16_t> bits;
  for (std::uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    if (std::isfinite(to_number(static_cast<std::uint16_t>(pattern))))
      bits.push_back(static_cast<std::uint16_t>(pattern));
  }
  const auto count = static_cast<std::int64_t>(bits.size());
  const Weight weight{reinterpret_cast<const std::byte*>(bits.data()), dtype, {count, 1}};
  const float one = 1;
  std::vector<float> output(bits.size());
  ThreadPool threads(1);
  ops::LinearScratch scratch;
  ops::linear({threads}, {&one, 1, &weight, nullptr, output.data()}, scratch);
  for (size_t i = 0; i < bits.size(); ++i) ASSERT_EQ(output[i], to_number(bits[i])) << "bits " << bits[i];
}

TEST(LinearStoredTypes, EveryFiniteF16IsReadExactly) {
  expect_every_finite_number_read_exactly(DType::kF16, f16_to_float);
}

TEST(LinearStoredTypes, EveryFiniteBf16IsReadExactly) {
  expect_every_finite_number_read_exactly(DType::kBF16, bf16_to_float);
}

TEST(LinearShapes, NoRowsWriteNothing) {
  const LinearData data({1, 8, 5, DType::kF32, true}, 1);
  ThreadPool threads(1);
  ops::LinearScratch scratch;
  float output = 7;
  ops::linear({threads}, data.args(0, 0, &output), scratch);
  EXPECT_EQ(output, 7);
}

}  // namespace
}  // namespace buoy

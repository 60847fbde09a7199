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

// A row's result is a function of that row and the weight alone, to the bit. Everything that promises
// "packed equals alone" and "cached equals recomputed" stands on this.

std::vector<float> product(const LinearData& data, std::int64_t first_row, std::int64_t rows,
                           int thread_count) {
  std::vector<float> output(static_cast<size_t>(rows * data.weight.rows()));
  ThreadPool threads(thread_count);
  ops::LinearScratch scratch;
  ops::linear({threads}, data.args(first_row, rows, output.data()), scratch);
  return output;
}

class LinearBits : public ::testing::TestWithParam<LinearCase> {};

TEST_P(LinearBits, RowsDependOnNeitherCompanyNorThreads) {
  const LinearCase& c = GetParam();
  const LinearData data(c, 5);
  const auto all = product(data, 0, c.rows, 1);
  const size_t row_bytes = static_cast<size_t>(c.outputs) * sizeof(float);
  for (const int threads : {2, 3}) {
    EXPECT_EQ(std::memcmp(product(data, 0, c.rows, threads).data(), all.data(), all.size() * sizeof(float)),
              0)
        << threads << " threads";
  }
  for (const std::int64_t row : {0, 1, 2, 3, 4, 5, 498, 996, 997, 998, 999}) {
    EXPECT_EQ(std::memcmp(product(data, row, 1, 1).data(), all.data() + row * c.outputs, row_bytes), 0)
        << "row " << row << " alone";
  }
  for (const std::int64_t count : {2, 3, 5, 7, 9, 100, 700}) {
    const std::int64_t first = 1000 - count;
    const auto some = product(data, first, count, 2);
    EXPECT_EQ(std::memcmp(some.data(), all.data() + first * c.outputs, some.size() * sizeof(float)), 0)
        << "the last " << count << " rows";
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, LinearBits,
                         ::testing::ValuesIn(std::vector<LinearCase>{{1000, 32, 300, DType::kF32, false},
                                                                     {1000, 1025, 121, DType::kBF16, true},
                                                                     {1000, 63, 7, DType::kF16, true}}),
                         testing::name_of_case<LinearCase>);

TEST(LinearRows, MoreThanAThousandRowsAreNotSplitDifferently) {
  const LinearCase c{2500, 40, 13, DType::kF32, true};
  const LinearData data(c, 6);
  const auto all = product(data, 0, c.rows, 3);
  for (const std::int64_t row : {1023, 1024, 1025, 2047, 2048, 2499}) {
    EXPECT_EQ(std::memcmp(product(data, row, 1, 1).data(), all.data() + row * c.outputs, 13 * sizeof(float)),
              0)
        << "row " << row;
  }
}

TEST(LinearRows, ScratchLeftByALargerProductChangesNothing) {
  const LinearData large({40, 2100, 300, DType::kF32, false}, 7), small({5, 31, 7, DType::kF32, true}, 8);
  std::vector<float> unused(40 * 300), fresh = product(small, 0, 5, 2), reused(5 * 7);
  ThreadPool threads(2);
  ops::LinearScratch scratch;
  ops::linear({threads}, large.args(0, 40, unused.data()), scratch);
  ops::linear({threads}, small.args(0, 5, reused.data()), scratch);
  EXPECT_EQ(std::memcmp(reused.data(), fresh.data(), fresh.size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace buoy

// A row's result is a function of that row and the weight alone, to the bit. Everything that promises
// "packed equals alone" and "cached equals recomputed" stands on this.

#include <gtest/gtest.h>

#include "ops/linear_data.h"

namespace buoy {
namespace {

using testing::LinearCase;
using testing::LinearData;

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

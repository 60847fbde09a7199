// The matrix of attention weights, rebuilt from the normalisers that the forward pass left.

#include <gtest/gtest.h>

#include "ops/attention_data.h"

namespace buoy {
namespace {

using testing::AttentionCase;
using testing::AttentionData;
using testing::AttentionResult;
using testing::ErrorRatio;
using testing::kRoundoff;

struct Matrix {
  AttentionResult result;
  std::vector<float> weights;  // [heads, query_rows, key_rows]

  explicit Matrix(const AttentionData& data)
      : result(data.attend()),
        weights(static_cast<size_t>(data.c.heads * data.c.query_rows * data.c.key_rows), NAN) {
    AttentionResult unused;
    auto sequence = data.sequence(unused);
    sequence.row_top = result.row_top.data();
    sequence.row_sum = result.row_sum.data();
    ThreadPool threads(2);
    ops::attention_probabilities({threads}, data.c.shape(), sequence, {weights.data(), nullptr});
  }
};

class AttentionProbabilities : public ::testing::TestWithParam<AttentionCase> {};

TEST_P(AttentionProbabilities, ErrAtMostTwiceAsMuchAsAPlainLoop) {
  ErrorRatio errors;
  for (std::uint64_t seed = 1; !errors.enough(); seed += 10) {
    const AttentionData data(GetParam(), seed);
    const Matrix ours(data);
    std::vector<double> exact(ours.weights.size());
    AttentionResult unused;
    ops::attention_reference(data.c.shape(), data.sequence(unused), {nullptr, exact.data(), nullptr});
    errors.add(ours.weights, testing::PlainAttention(data).probabilities, exact);
  }
  errors.expect_at_most_twice("probabilities");
}

// Let n keys be seen. The sum of a row's weights was rounded at most n times (and once per block of keys
// more, of which there are fewer than n), and every quotient once: (2 n + 1) u relative. Weights summed
// before a larger score turned up were scaled by exp(old top - new top) instead of being computed from the
// new top; both differences and the direct one are rounded, which moves a weight by 3 u times its distance x
// from the top, and the mean of x under softmax weights is at most ln n. The exponentials themselves are
// within an ulp, twice in the scaled and once in the direct weight: 6 u.
TEST_P(AttentionProbabilities, SumToOneAndAreZeroWhereHidden) {
  const AttentionData data(GetParam(), 1);
  const Matrix matrix(data);
  size_t at = 0;
  for (std::int64_t head = 0; head < data.c.heads; ++head) {
    for (std::int64_t row = 0; row < data.c.query_rows; ++row) {
      double sum = 0, seen = 0;
      for (std::int64_t j = 0; j < data.c.key_rows; ++j, ++at) {
        if (data.sees(row, j)) {
          sum += matrix.weights[at];
          ++seen;
        } else {
          ASSERT_EQ(matrix.weights[at], 0) << "head " << head << " row " << row << " key " << j;
        }
      }
      if (seen == 0) continue;
      ASSERT_NEAR(sum, 1, (2 * seen + 7 + 3 * std::log(seen)) * kRoundoff)
          << "head " << head << " row " << row;
    }
  }
}

// Scores are computed as the forward pass computed them, so the largest weight is exactly exp(0) / sum.
TEST_P(AttentionProbabilities, FitTheForwardPassToTheBit) {
  const AttentionData data(GetParam(), 2);
  const Matrix matrix(data);
  for (size_t row = 0; row < matrix.result.row_sum.size(); ++row) {
    if (matrix.result.row_sum[row] == 0) continue;
    const auto first = matrix.weights.begin() + static_cast<std::int64_t>(row) * data.c.key_rows;
    ASSERT_EQ(*std::max_element(first, first + data.c.key_rows), 1 / matrix.result.row_sum[row])
        << "row " << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, AttentionProbabilities, ::testing::ValuesIn(testing::attention_cases()),
                         testing::name_of_attention_case);

}  // namespace
}  // namespace buoy

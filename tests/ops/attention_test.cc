// Attention against the reference in double, for every mask, length, grouping and bias of the table.

#include <gtest/gtest.h>

#include "ops/attention_data.h"

namespace buoy {
namespace {

using testing::AttentionCase;
using testing::AttentionData;
using testing::AttentionResult;
using testing::ErrorRatio;
using testing::KeyBias;
using testing::kHidden;
using testing::PlainAttention;

// Log-sum-exps of the rows that see a key.
std::vector<float> log_sum_exps(const AttentionResult& result) {
  std::vector<float> out;
  for (size_t i = 0; i < result.row_sum.size(); ++i) {
    if (result.row_sum[i] > 0)
      out.push_back(static_cast<float>(result.row_top[i] + std::log(double{result.row_sum[i]})));
  }
  return out;
}

class Attention : public ::testing::TestWithParam<AttentionCase> {};

TEST_P(Attention, ErrsAtMostTwiceAsMuchAsAPlainLoop) {
  ErrorRatio output_errors, normaliser_errors;
  for (std::uint64_t seed = 1; !output_errors.enough() || !normaliser_errors.enough(); seed += 10) {
    const AttentionData data(GetParam(), seed);
    const AttentionResult ours = data.attend();
    const PlainAttention plain(data);
    std::vector<double> exact(ours.output.size()), log_sum_exp(ours.row_sum.size());
    AttentionResult unused;
    ops::attention_reference(data.c.shape(), data.sequence(unused),
                             {exact.data(), nullptr, log_sum_exp.data()});
    output_errors.add(ours.output, plain.output, exact);
    std::erase(log_sum_exp, double{kHidden});
    normaliser_errors.add(log_sum_exps(ours), log_sum_exps(plain), log_sum_exp);
  }
  output_errors.expect_at_most_twice("output");
  normaliser_errors.expect_at_most_twice("log_sum_exp");
}

INSTANTIATE_TEST_SUITE_P(Cases, Attention, ::testing::ValuesIn(testing::attention_cases()),
                         testing::name_of_attention_case);

void expect_nothing_seen(const AttentionResult& result, const AttentionCase& c, std::int64_t row) {
  for (std::int64_t head = 0; head < c.heads; ++head) {
    EXPECT_EQ(result.row_top[static_cast<size_t>(head * c.query_rows + row)], kHidden);
    EXPECT_EQ(result.row_sum[static_cast<size_t>(head * c.query_rows + row)], 0);
  }
  for (std::int64_t i = 0; i < c.heads * c.head_dim; ++i) {
    EXPECT_EQ(result.output[static_cast<size_t>(row * c.heads * c.head_dim + i)], 0) << "row " << row;
  }
}

TEST(AttentionThatSeesNothing, GivesZerosWhenEveryKeyIsHidden) {
  AttentionData data({.label = "", .query_rows = 3, .key_rows = 300, .bias = KeyBias::kRandom}, 1);
  std::fill(data.bias.begin(), data.bias.end(), kHidden);
  const auto result = data.attend();
  for (std::int64_t row = 0; row < 3; ++row) expect_nothing_seen(result, data.c, row);
}

TEST(AttentionThatSeesNothing, GivesZerosToCausalRowsBeforeTheFirstRealKey) {
  const AttentionData data({.label = "",
                            .query_rows = 300,
                            .key_rows = 300,
                            .mask = {ops::MaskKind::kCausal, 0},
                            .bias = KeyBias::kPadding},
                           1);
  const auto result = data.attend();
  for (const std::int64_t row : {0, 1, 255, 256, 269}) expect_nothing_seen(result, data.c, row);
  EXPECT_EQ(result.row_sum[270], 1);  // sees one key
}

TEST(AttentionThatSeesNothing, GivesZerosWithoutKeys) {
  const AttentionData data({.label = "", .query_rows = 2, .key_rows = 0}, 1);
  const auto result = data.attend();
  for (std::int64_t row = 0; row < 2; ++row) expect_nothing_seen(result, data.c, row);
}

// Each key head's own key stands out by so much that the other weights underflow to exactly zero, so the
// output is the value stored at that key for that head.
TEST(AttentionGroups, EveryQueryHeadReadsTheKeyHeadOfItsGroup) {
  for (const std::int64_t group : {1, 4, 7}) {
    const std::int64_t kv_heads = 3, heads = kv_heads * group, dim = 16;
    AttentionData data({.label = "", .heads = heads, .kv_heads = kv_heads, .query_rows = 1, .key_rows = 3},
                       1);
    std::fill(data.queries.begin(), data.queries.end(), 1.0f);
    for (std::int64_t key = 0; key < 3; ++key) {
      for (std::int64_t kv_head = 0; kv_head < kv_heads; ++kv_head) {
        const auto at = (key * kv_heads + kv_head) * dim;
        std::fill_n(data.keys.begin() + at, dim, key == kv_head ? 100.0f : 0.0f);
        std::fill_n(data.values.begin() + at, dim, static_cast<float>(10 * key + kv_head));
      }
    }
    const auto result = data.attend();
    for (std::int64_t head = 0; head < heads; ++head) {
      const auto kv_head = static_cast<float>(head / group);
      for (std::int64_t i = 0; i < dim; ++i) {
        EXPECT_EQ(result.output[static_cast<size_t>(head * dim + i)], 11 * kv_head)
            << "head " << head << " of " << heads;
      }
    }
  }
}

TEST(VisibleEnd, IsTheMask) {
  using ops::MaskKind;
  EXPECT_EQ(ops::visible_end({MaskKind::kBidirectional, 0}, 5, 0, 9), 9);
  EXPECT_EQ(ops::visible_end({MaskKind::kCausal, 0}, 5, 0, 9), 1);
  EXPECT_EQ(ops::visible_end({MaskKind::kCausal, 0}, 5, 8, 9), 9);
  EXPECT_EQ(ops::visible_end({MaskKind::kBlockCausal, 4}, 5, 3, 9), 4);
  EXPECT_EQ(ops::visible_end({MaskKind::kBlockCausal, 4}, 5, 4, 9), 8);
  EXPECT_EQ(ops::visible_end({MaskKind::kBlockCausal, 4}, 5, 8, 9), 9);
  // Rows before a grid from position 5: in blocks counted downwards, causally, or as a whole.
  using ops::BeforeGrid;
  const auto before = [](BeforeGrid rule) {
    std::vector<std::int64_t> seen;
    for (std::int64_t p = 0; p < 12; ++p)
      seen.push_back(ops::visible_end({MaskKind::kBlockCausal, 4}, 0, p, 11, 5, rule));
    return seen;
  };
  using Ends = std::vector<std::int64_t>;
  EXPECT_EQ(before(BeforeGrid::kBlocks), (Ends{1, 5, 5, 5, 5, 9, 9, 9, 9, 11, 11, 11}));
  EXPECT_EQ(before(BeforeGrid::kCausal), (Ends{1, 2, 3, 4, 5, 9, 9, 9, 9, 11, 11, 11}));
  EXPECT_EQ(before(BeforeGrid::kWhole), (Ends{5, 5, 5, 5, 5, 9, 9, 9, 9, 11, 11, 11}));
  // Row i sees the keys below max(i + 1, prefix).
  const ops::AttentionMask prefix{MaskKind::kPrefix, 0};
  EXPECT_EQ(ops::visible_end(prefix, 0, 0, 9), 1);
  EXPECT_EQ(ops::visible_end(prefix, 5, 0, 9), 5);
  EXPECT_EQ(ops::visible_end(prefix, 5, 4, 9), 5);
  EXPECT_EQ(ops::visible_end(prefix, 5, 5, 9), 6);
  EXPECT_EQ(ops::visible_end(prefix, 5, 8, 9), 9);
  EXPECT_EQ(ops::visible_end(prefix, 12, 0, 9), 9);
}

TEST(AttentionChecks, RefuseShapesThatCannotBe) {
  const AttentionData data({.label = ""}, 1);
  AttentionResult result;
  auto sequence = data.sequence(result);
  ThreadPool threads(1);
  ops::AttentionScratch scratch;
  const auto attend = [&](const ops::AttentionShape& shape) {
    ops::attention({threads}, shape, {&sequence, 1}, scratch);
  };
  EXPECT_THROW(attend({3, 2, 16, {}}), InternalError);
  EXPECT_THROW(attend({2, 0, 16, {}}), InternalError);
  EXPECT_THROW(attend({2, 2, 16, {ops::MaskKind::kBlockCausal, 0}}), InternalError);
  sequence.prefix = -1;
  EXPECT_THROW(attend({2, 2, 16, {ops::MaskKind::kPrefix, 0}}), InternalError);
}

}  // namespace
}  // namespace buoy

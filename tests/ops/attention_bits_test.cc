// A query's result is a function of that query and the keys it sees, to the bit: not of the other
// queries, the other sequences of the batch or the threads.

#include <gtest/gtest.h>

#include "ops/attention_data.h"

namespace buoy {
namespace {

using testing::AttentionCase;
using testing::AttentionData;
using testing::AttentionResult;
using testing::KeyBias;

TEST(AttentionBits, PackedEqualsAlone) {
  for (const auto kind : {ops::MaskKind::kCausal, ops::MaskKind::kBidirectional, ops::MaskKind::kBlockCausal,
                          ops::MaskKind::kPrefix}) {
    std::vector<AttentionData> batch;
    for (const std::int64_t length : {1, 300, 5, 37, 257, 700}) {
      batch.emplace_back(AttentionCase{.label = "",
                                       .heads = 8,
                                       .head_dim = 80,
                                       .query_rows = length,
                                       .key_rows = length,
                                       .mask = {kind, 32},
                                       .bias = length == 37 ? KeyBias::kRandom : KeyBias::kNone,
                                       .prefix = 2 * length / 3},
                         static_cast<std::uint64_t>(length));
    }
    std::vector<AttentionResult> packed(batch.size());
    std::vector<ops::AttentionSequence> sequences;
    for (size_t n = 0; n < batch.size(); ++n) sequences.push_back(batch[n].sequence(packed[n]));
    ThreadPool threads(3);
    ops::AttentionScratch scratch;
    ops::attention({threads}, batch[0].c.shape(), sequences, scratch);
    for (size_t n = 0; n < batch.size(); ++n) {
      EXPECT_EQ(packed[n], batch[n].attend(1)) << "length " << batch[n].c.query_rows;
    }
  }
}

TEST(AttentionBits, ThreadsChangeNothing) {
  const AttentionData data({.label = "", .heads = 7, .kv_heads = 1, .query_rows = 300, .key_rows = 300}, 4);
  const auto one = data.attend(1);
  EXPECT_EQ(data.attend(2), one);
  EXPECT_EQ(data.attend(3), one);
}

TEST(AttentionBits, APrefixOfNothingIsCausalAndOneOfEverythingIsBidirectional) {
  AttentionData data({.label = "",
                      .heads = 4,
                      .head_dim = 24,
                      .query_rows = 300,
                      .key_rows = 300,
                      .bias = KeyBias::kSomeHidden},
                     5);
  const auto with = [&](ops::MaskKind kind, std::int64_t prefix) {
    data.c.mask = {kind, 0};
    data.c.prefix = prefix;
    return data.attend();
  };
  const auto causal = with(ops::MaskKind::kCausal, 0), full = with(ops::MaskKind::kBidirectional, 0);
  EXPECT_EQ(with(ops::MaskKind::kPrefix, 0), causal);
  EXPECT_EQ(with(ops::MaskKind::kPrefix, 1), causal);  // key 0 is seen by all anyway
  EXPECT_EQ(with(ops::MaskKind::kPrefix, 300), full);
  const auto half = with(ops::MaskKind::kPrefix, 150);
  EXPECT_FALSE(half == causal);
  EXPECT_FALSE(half == full);
}

// Query rows [first, first + count) of `data`, which sees as many keys as there are up to its last row.
AttentionResult with_cache(const AttentionData& data, std::int64_t first, std::int64_t count) {
  AttentionData part = data;
  const auto width = data.c.heads * data.c.head_dim;
  part.queries.assign(data.queries.begin() + first * width, data.queries.begin() + (first + count) * width);
  part.c.query_rows = count;
  part.c.first_position = first;
  part.c.key_rows = first + count;
  return part.attend();
}

// Rows from `begin` on, by chunks, against those of one computation.
void expect_rows_from_a_cache(const AttentionData& data, std::int64_t begin) {
  const auto whole = data.attend();
  const auto width = data.c.heads * data.c.head_dim;
  for (const std::int64_t chunk : {1, 3, 40}) {
    for (std::int64_t first = begin; first < 300; first += chunk) {
      const auto part = with_cache(data, first, std::min(chunk, 300 - first));
      ASSERT_EQ(std::memcmp(part.output.data(), whole.output.data() + first * width,
                            part.output.size() * sizeof(float)),
                0)
          << "rows from " << first << " by " << chunk;
      for (std::int64_t head = 0; head < data.c.heads; ++head) {
        const size_t rows = part.row_sum.size() / static_cast<size_t>(data.c.heads),
                     bytes = rows * sizeof(float);
        const size_t from = static_cast<size_t>(head) * rows, to = static_cast<size_t>(head * 300 + first);
        ASSERT_EQ(std::memcmp(&part.row_top[from], &whole.row_top[to], bytes), 0) << first << " by " << chunk;
        ASSERT_EQ(std::memcmp(&part.row_sum[from], &whole.row_sum[to], bytes), 0) << first << " by " << chunk;
      }
    }
  }
}

TEST(AttentionBits, RowsFromACacheEqualTheWholeComputation) {
  AttentionCase c{.label = "",
                  .heads = 4,
                  .head_dim = 24,
                  .query_rows = 300,
                  .key_rows = 300,
                  .mask = {ops::MaskKind::kCausal, 0},
                  .bias = KeyBias::kSomeHidden};
  expect_rows_from_a_cache(AttentionData(c, 9), 0);
  c.mask.kind = ops::MaskKind::kPrefix;
  c.prefix = 130;
  expect_rows_from_a_cache(AttentionData(c, 9), c.prefix);
}

TEST(AttentionBits, NotAskingForNormalisersChangesNothing) {
  const AttentionData data({.label = "", .query_rows = 270, .key_rows = 270}, 2);
  AttentionResult silent;
  auto sequence = data.sequence(silent);
  sequence.row_top = sequence.row_sum = nullptr;
  ThreadPool threads(2);
  ops::AttentionScratch scratch;
  ops::attention({threads}, data.c.shape(), {&sequence, 1}, scratch);
  EXPECT_EQ(
      std::memcmp(silent.output.data(), data.attend().output.data(), silent.output.size() * sizeof(float)),
      0);
}

}  // namespace
}  // namespace buoy

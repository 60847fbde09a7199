// Blocks with an origin: which keys are seen, and that the kernels, statistics and moments of a sequence with
// its own grid are those of the double reference.

#include <gtest/gtest.h>

#include "buoy/ops/moments/qk_moments.h"
#include "ops/references/attended.h"

namespace buoy::ops {
namespace {

using testing::AttentionCase;
using testing::AttentionData;
using testing::AttentionResult;
using testing::KeyBias;

std::vector<std::int64_t> counts(std::int64_t block, std::int64_t origin, std::int64_t keys) {
  std::vector<std::int64_t> seen;
  for (std::int64_t p = 0; p < keys; ++p)
    seen.push_back(visible_end({MaskKind::kBlockCausal, block}, 0, p, keys, origin));
  return seen;
}

TEST(BlockGrid, CountsOfVisibleKeys) {
  EXPECT_EQ(counts(4, 0, 12), (std::vector<std::int64_t>{4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12}));
  // The grid ends at a prompt of 3 (or 7) tokens: the prompt's first block is the short one.
  EXPECT_EQ(counts(4, 3, 7), (std::vector<std::int64_t>{3, 3, 3, 7, 7, 7, 7}));
  EXPECT_EQ(counts(4, 7, 7), counts(4, 3, 7));
  EXPECT_EQ(counts(4, 3, 9), (std::vector<std::int64_t>{3, 3, 3, 7, 7, 7, 7, 9, 9}));
}

TEST(BlockGrid, IsFloorOfTheDistanceFromTheOrigin) {
  const auto number = [](std::int64_t p, std::int64_t block, std::int64_t origin) {
    std::int64_t n = 0;
    for (; p < origin; p += block) --n;  // no division: the definition, step by step
    for (; p >= origin + block; p -= block) ++n;
    return n;
  };
  for (const std::int64_t block : {1, 2, 5, 8, 40}) {
    for (const std::int64_t origin : {0, 1, 6, 13, 29}) {
      for (std::int64_t i = 0; i < 30; ++i) {
        for (std::int64_t j = 0; j < 30; ++j) {
          const bool seen = j < visible_end({MaskKind::kBlockCausal, block}, 0, i, 30, origin);
          ASSERT_EQ(seen, number(j, block, origin) <= number(i, block, origin))
              << block << " " << origin << " " << i << " " << j;
        }
      }
    }
  }
}

AttentionData random_sequence(std::int64_t length, std::uint64_t seed) {
  return AttentionData({.label = "",
                        .heads = 4,
                        .head_dim = 24,
                        .query_rows = length,
                        .key_rows = length,
                        .mask = {MaskKind::kBlockCausal, 32},
                        .bias = KeyBias::kSomeHidden},
                       seed);
}

AttentionResult attend(const AttentionData& data, std::int64_t block, std::int64_t origin) {
  AttentionResult result;
  auto sequence = data.sequence(result);
  sequence.block = block;
  sequence.grid_origin = origin;
  ThreadPool threads(1);
  AttentionScratch scratch;
  attention({threads}, data.c.shape(), {&sequence, 1}, scratch);
  return result;
}

TEST(BlockGridBits, BlocksOfOneAreCausalAndOneBlockIsBidirectional) {
  AttentionData data = random_sequence(300, 5);
  const auto ones = attend(data, 1, 7), whole = attend(data, 300, 0), longer = attend(data, 1 << 20, 0),
             blocks = attend(data, 32, 5);
  data.c.mask = {MaskKind::kCausal, 0};
  EXPECT_EQ(ones, data.attend());
  data.c.mask = {};
  EXPECT_EQ(whole, data.attend());
  EXPECT_EQ(longer, data.attend());
  EXPECT_FALSE(blocks == ones);
  EXPECT_FALSE(blocks == whole);
}

TEST(BlockGridBits, PackedSequencesKeepTheirOwnGrid) {
  std::vector<AttentionData> batch;
  for (const std::int64_t length : {1, 300, 37, 257})
    batch.push_back(random_sequence(length, static_cast<std::uint64_t>(length)));
  const auto block_of = [](size_t n) { return std::int64_t{n == 1 ? 7 : 32}; };
  const auto origin_of = [](size_t n) { return static_cast<std::int64_t>(5 * n); };
  std::vector<AttentionResult> packed(batch.size());
  std::vector<AttentionSequence> sequences;
  for (size_t n = 0; n < batch.size(); ++n) {
    sequences.push_back(batch[n].sequence(packed[n]));
    sequences[n].block = block_of(n);
    sequences[n].grid_origin = origin_of(n);
  }
  ThreadPool threads(3);
  AttentionScratch scratch;
  attention({threads}, batch[0].c.shape(), sequences, scratch);
  for (size_t n = 0; n < batch.size(); ++n)
    EXPECT_EQ(packed[n], attend(batch[n], block_of(n), origin_of(n))) << n;
}

// A block that is run alone behind the keys of finished blocks gives the bits of the whole sequence.
TEST(BlockGridBits, ABlockBehindACacheEqualsTheWholeSequence) {
  const AttentionData whole = random_sequence(70, 9);
  const auto all = attend(whole, 16, 6);
  AttentionData part = whole;
  const std::int64_t first = 38, width = whole.c.heads * whole.c.head_dim;
  part.queries.assign(whole.queries.begin() + first * width, whole.queries.begin() + (first + 16) * width);
  part.c.query_rows = 16;
  part.c.first_position = first;
  part.c.key_rows = first + 16;
  const auto block = attend(part, 16, 6);
  EXPECT_TRUE(std::equal(block.output.begin(), block.output.end(), all.output.begin() + first * width));
}

double rms(const std::vector<float>& a, const std::vector<double>& b) {
  double total = 0;
  for (size_t i = 0; i < a.size(); ++i) total += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return std::sqrt(total / static_cast<double>(a.size()));
}

TEST(BlockGrid, OutputsStatisticsAndMomentsAreThoseOfTheReference) {
  for (const std::int64_t origin : {0, 3, 29}) {
    const Case c{90, 120, 4, 2, 16, {MaskKind::kBlockCausal, 32}, false};
    Attended run(c);
    run.sequence.block = 8;
    run.sequence.grid_origin = origin;
    attention({run.threads}, run.shape, {&run.sequence, 1}, run.scratch);
    std::vector<double> output(run.output.size());
    attention_reference(run.shape, run.sequence, {output.data(), nullptr, nullptr});
    EXPECT_LE(rms(run.output, output), 1e-6) << origin;

    const auto rows = static_cast<size_t>(c.heads * c.queries),
               columns = static_cast<size_t>(c.heads * c.keys);
    std::vector<float> received(columns), entropy(rows), lse(rows);
    AttentionStatistics wanted;
    wanted.received = received.data();
    wanted.entropy = entropy.data();
    wanted.log_sum_exp = lse.data();
    attention_statistics({run.threads}, run.shape, run.sequence, wanted);
    std::vector<double> exact_received(columns), exact_entropy(rows), exact_lse(rows);
    attention_statistics_reference(run.shape, run.sequence, wanted,
                                   {exact_received.data(), exact_entropy.data(), exact_lse.data()});
    EXPECT_LE(rms(received, exact_received), 1e-6) << origin;
    EXPECT_LE(rms(entropy, exact_entropy), 1e-5) << origin;
    EXPECT_LE(rms(lse, exact_lse), 1e-5) << origin;

    std::vector<float> dot(columns), cosine(columns), norms(columns);
    QkMoments moments;
    moments.dot = dot.data();
    moments.cosine = cosine.data();
    moments.norm_product = norms.data();
    qk_moments({run.threads}, run.shape, run.sequence, moments);
    std::vector<double> exact_dot(columns), exact_cosine(columns), exact_norms(columns);
    qk_moments_reference(run.shape, run.sequence, moments,
                         {exact_dot.data(), exact_cosine.data(), exact_norms.data()});
    EXPECT_LE(rms(dot, exact_dot), 1e-4) << origin;
    EXPECT_LE(rms(cosine, exact_cosine), 1e-5) << origin;
    EXPECT_LE(rms(norms, exact_norms), 1e-4) << origin;
  }
}

}  // namespace
}  // namespace buoy::ops

// What the statistics of heads, parts of the queries and changed attention have to do with each other.

#include <gtest/gtest.h>

#include <cmath>

#include "ops/references/attended.h"

namespace buoy::ops {
namespace {

// Sums over the queries of one head, not a mean over the heads that share a key: with queries all alike, head
// h receives from its own queries alone.
TEST(GroupedHeads, EachHeadKeepsItsOwnSum) {
  const Case c{64, 64, 8, 2, 16, {MaskKind::kBidirectional, 0}, false};
  Attended run(c);
  for (size_t i = 0; i < run.queries.size(); ++i) {
    if (i / 16 % 8 != 5) run.queries[i] = 0;  // all heads but 5 spread evenly
  }
  attention({run.threads}, run.shape, {&run.sequence, 1}, run.scratch);
  std::vector<float> received(8 * 64);
  AttentionStatistics wanted;
  wanted.received = received.data();
  attention_statistics({run.threads}, run.shape, run.sequence, wanted);
  for (size_t h = 0; h < 8; ++h) {
    double spread = 0;
    for (size_t j = 0; j < 64; ++j) spread = std::max(spread, std::abs(received[h * 64 + j] - 1.0));
    if (h == 5) {
      EXPECT_GT(spread, 0.5);
    } else {
      EXPECT_LT(spread, 1e-5) << "head " << h;
    }
  }
}

// Merging what was measured of parts of the queries equals measuring all of them at once.
TEST(Tiles, PartsOfTheQueriesAddUpToOnePass) {
  const Case c{130, 130, 4, 2, 32, {MaskKind::kCausal, 0}, false};
  Attended whole(c);
  std::vector<float> received(4 * 130), entropy(4 * 130);
  AttentionStatistics wanted;
  wanted.received = received.data();
  wanted.entropy = entropy.data();
  attention_statistics({whole.threads}, whole.shape, whole.sequence, wanted);
  std::vector<double> merged(received.size(), 0.0);
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 50}, {50, 79}, {129, 1}}) {
    Attended part(c);
    part.sequence.queries += first * c.heads * c.dim;
    part.sequence.query_rows = count;
    part.sequence.first_position = first;
    attention({part.threads}, part.shape, {&part.sequence, 1}, part.scratch);
    std::vector<float> some(received.size()), some_entropy(static_cast<size_t>(4 * count));
    AttentionStatistics of_part;
    of_part.received = some.data();
    of_part.entropy = some_entropy.data();
    attention_statistics({part.threads}, part.shape, part.sequence, of_part);
    for (size_t i = 0; i < merged.size(); ++i) merged[i] += some[i];
    for (std::int64_t h = 0; h < 4; ++h) {
      for (std::int64_t i = 0; i < count; ++i) {
        EXPECT_EQ(some_entropy[static_cast<size_t>(h * count + i)],
                  entropy[static_cast<size_t>(h * 130 + first + i)])
            << "a row does not depend on the rows beside it";
      }
    }
  }
  for (size_t i = 0; i < merged.size(); ++i)
    EXPECT_NEAR(merged[i], received[i], 4 * 6e-8 * (1 + received[i]));
}

TEST(DenseMean, IsTheMeanOfTheDenseMatricesOfTheHeads) {
  const Case c{77, 300, 8, 2, 32, {MaskKind::kCausal, 0}, true};
  Attended run(c);
  std::vector<float> heads(static_cast<size_t>(8 * 77 * 300)), mean(77 * 300, NAN);
  attention_probabilities({run.threads}, run.shape, run.sequence, {heads.data(), mean.data()});
  for (size_t i = 0; i < mean.size(); ++i) {
    double sum = 0;
    for (size_t h = 0; h < 8; ++h) sum += heads[h * mean.size() + i];
    EXPECT_NEAR(mean[i], sum / 8, 8 * 6e-8 * (sum / 8 + 1e-7));
  }
}

TEST(HeadScale, MultipliesOneHeadsOutputAndNothingElse) {
  const Case c{40, 40, 4, 2, 16, {MaskKind::kBidirectional, 0}, false};
  Attended plain(c), scaled(c);
  const std::vector<float> scale = {1.0f, 0.0f, 0.5f, 1.0f};
  scaled.sequence.head_scale = scale.data();
  attention({scaled.threads}, scaled.shape, {&scaled.sequence, 1}, scaled.scratch);
  for (size_t i = 0; i < plain.output.size(); ++i) {
    EXPECT_EQ(scaled.output[i], plain.output[i] * scale[i / 16 % 4]);
  }
}

TEST(KeyBias, PerHeadHidesAColumnInThatHeadAlone) {
  const Case c{40, 40, 4, 2, 16, {MaskKind::kBidirectional, 0}, false};
  Attended run(c);
  std::vector<float> bias(static_cast<size_t>(c.heads * c.keys), 0.0f);
  bias[static_cast<size_t>(2 * c.keys + 7)] = kHidden;
  run.sequence.key_bias = bias.data();
  attention({run.threads}, run.shape, {&run.sequence, 1}, run.scratch);
  std::vector<float> received(bias.size());
  AttentionStatistics wanted;
  wanted.received = received.data();
  attention_statistics({run.threads}, run.shape, run.sequence, wanted);
  for (std::int64_t h = 0; h < c.heads; ++h) {
    if (h == 2) {
      EXPECT_EQ(received[static_cast<size_t>(h * c.keys + 7)], 0.0f);
    } else {
      EXPECT_GT(received[static_cast<size_t>(h * c.keys + 7)], 0.0f);
    }
  }
}

}  // namespace
}  // namespace buoy::ops

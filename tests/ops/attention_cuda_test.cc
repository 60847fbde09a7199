// Attention on the GPU against the double reference on the same bf16 numbers. Rule: error at most twice that
// of a plain bf16 implementation, which forms scores in float32 and rounds weights and outputs to bf16.
// Skipped where there is no GPU.

#include <gtest/gtest.h>

#include <functional>

#include "buoy/ops/attention/attention_statistics.h"
#include "ops/attention_cuda_data.h"

namespace buoy {
namespace {

using testing::AttentionCase;
using testing::AttentionData;
using testing::bf16_data;
using testing::cuda_attention_cases;
using testing::DeviceArray;
using testing::ErrorRatio;
using testing::KeyBias;
using testing::kHidden;
using testing::PackedOnDevice;
using testing::PlainAttention;
using testing::rounded_to_bf16;

// [query_rows, heads, head_dim]
std::vector<float> plain_bf16(const AttentionData& data) {
  const AttentionCase& c = data.c;
  const PlainAttention plain(data);
  std::vector<float> output(plain.output.size());
  for (std::int64_t head = 0; head < c.heads; ++head) {
    for (std::int64_t row = 0; row < c.query_rows; ++row) {
      const float* p = plain.probabilities.data() + (head * c.query_rows + row) * c.key_rows;
      std::vector<float> sums(static_cast<size_t>(c.head_dim), 0.0f);
      for (std::int64_t j = 0; j < c.key_rows; ++j) {
        const float weight = rounded_to_bf16(p[j]);
        const float* value =
            data.values.data() + (j * c.kv_heads + head / (c.heads / c.kv_heads)) * c.head_dim;
        for (std::int64_t i = 0; i < c.head_dim; ++i) sums[static_cast<size_t>(i)] += weight * value[i];
      }
      for (std::int64_t i = 0; i < c.head_dim; ++i) {
        output[static_cast<size_t>((row * c.heads + head) * c.head_dim + i)] =
            rounded_to_bf16(sums[static_cast<size_t>(i)]);
      }
    }
  }
  return output;
}

// Rows [query_start, ...) of an array [.., rows of the buffer, ..] whose rows are the slowest or the fastest
// index.
std::vector<float> own_rows(const std::vector<float>& all, const ops::PackedSequence& s, std::int64_t heads,
                            std::int64_t rows) {
  std::vector<float> out;
  for (std::int64_t head = 0; head < heads; ++head) {
    const auto first = all.begin() + head * rows + s.query_start;
    out.insert(out.end(), first, first + s.query_rows);
  }
  return out;
}
std::vector<float> own_outputs(const std::vector<float>& all, const ops::PackedSequence& s,
                               std::int64_t width) {
  return {all.begin() + s.query_start * width, all.begin() + (s.query_start + s.query_rows) * width};
}

// Draws cases until there are enough numbers to judge by, for both kinds of kernels.
void expect_small_errors(const std::function<AttentionData(std::uint64_t seed)>& draw) {
  const Stream stream;
  for (const bool hopper : {true, false}) {
    ErrorRatio errors;
    for (std::uint64_t seed = 1; !errors.enough(); seed += 10) {
      const AttentionData data = draw(seed);
      const AttentionCase& c = data.c;
      PackedOnDevice device(stream, {data}, 0);
      device.plan().allow_hopper(hopper);
      const auto ours = device.attend();
      const auto& s = device.sequences()[0];
      testing::AttentionResult unused;
      const auto sequence = data.sequence(unused);
      const auto rows = static_cast<size_t>(c.heads * c.query_rows);
      std::vector<double> output(rows * static_cast<size_t>(c.head_dim)), lse(rows), entropy(rows);
      ops::attention_reference(c.shape(), sequence, {output.data(), nullptr, nullptr});
      ops::attention_statistics_reference(c.shape(), sequence, {}, {nullptr, entropy.data(), lse.data()});
      errors.add(own_outputs(ours.output, s, c.heads * c.head_dim), plain_bf16(data), output);
      const double tolerance = testing::score_tolerance(data);
      const auto our_lse = own_rows(ours.log_sum_exp, s, c.heads, device.rows());
      const auto our_entropy = own_rows(ours.entropy, s, c.heads, device.rows());
      for (size_t i = 0; i < rows; ++i) {
        if (lse[i] == kHidden) {
          EXPECT_EQ(our_lse[i], kHidden);
          EXPECT_EQ(our_entropy[i], 0.0f);
        } else {
          ASSERT_NEAR(our_lse[i], lse[i], tolerance) << "row " << i << (hopper ? "" : ", general");
          // The difference of two such numbers.
          ASSERT_NEAR(our_entropy[i], entropy[i], 2 * tolerance)
              << "row " << i << (hopper ? "" : ", general");
        }
      }
    }
    errors.expect_at_most_twice(hopper ? "output" : "output_general");
  }
}

class CudaAttention : public ::testing::TestWithParam<AttentionCase> {
 protected:
  void SetUp() override {
    if (!testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
};

TEST_P(CudaAttention, ErrsAtMostTwiceAsMuchAsPlainBf16) {
  expect_small_errors([&](std::uint64_t seed) { return bf16_data(GetParam(), seed); });
}

TEST_P(CudaAttention, EntropyChangesNoBitOfTheOutput) {
  const Stream stream;
  const AttentionData data = bf16_data(GetParam(), 5);
  PackedOnDevice device(stream, {data}, 0);
  const auto& s = device.sequences()[0];
  const std::int64_t width = data.c.heads * data.c.head_dim;
  EXPECT_EQ(own_outputs(device.attend(true).output, s, width),
            own_outputs(device.attend(false).output, s, width));
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaAttention, ::testing::ValuesIn(cuda_attention_cases()),
                         testing::name_of_attention_case);

class CudaAttentionBySize : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
};

TEST_P(CudaAttentionBySize, APackedSequenceIsTheSameAsAlone) {
  const Stream stream;
  for (const auto kind : {ops::MaskKind::kBidirectional, ops::MaskKind::kCausal}) {
    std::vector<AttentionData> parts;
    for (const std::int64_t length : {200, 1, 129, 64, 333}) {
      parts.push_back(bf16_data({.label = "",
                                 .heads = 4,
                                 .head_dim = GetParam(),
                                 .query_rows = length,
                                 .key_rows = length,
                                 .mask = {kind, 0},
                                 .bias = KeyBias::kRandom},
                                static_cast<std::uint64_t>(length)));
    }
    PackedOnDevice together(stream, parts, 0);
    const auto all = together.attend();
    for (size_t i = 0; i < parts.size(); ++i) {
      PackedOnDevice alone(stream, {parts[i]}, 0);
      const auto one = alone.attend();
      const auto& s = together.sequences()[i];
      EXPECT_EQ(own_outputs(all.output, s, 4 * GetParam()), one.output) << "sequence " << i;
      EXPECT_EQ(own_rows(all.entropy, s, 4, together.rows()), one.entropy) << "sequence " << i;
      EXPECT_EQ(own_rows(all.log_sum_exp, s, 4, together.rows()), one.log_sum_exp) << "sequence " << i;
    }
  }
}

// Scores that rise or fall from tile to tile of keys: what was summed before is rescaled at every tile, at
// some, or at none.
TEST_P(CudaAttentionBySize, ScoresMayRiseAndFallAlongTheKeys) {
  for (const float step : {3.0f, 20.0f, -20.0f}) {
    SCOPED_TRACE(step);
    expect_small_errors([&](std::uint64_t seed) {
      AttentionData data = bf16_data({.label = "rising",
                                      .head_dim = GetParam(),
                                      .query_rows = 140,
                                      .key_rows = 700,
                                      .bias = KeyBias::kRandom},
                                     seed);
      for (size_t key = 0; key < data.bias.size(); ++key)
        data.bias[key] = step * static_cast<float>(key % 700 / 64);
      return data;
    });
  }
}

TEST_P(CudaAttentionBySize, HeadScaleMultipliesAHeadsOutput) {
  const Stream stream;
  const std::int64_t dim = GetParam();
  const AttentionData data =
      bf16_data({.label = "", .heads = 4, .head_dim = dim, .query_rows = 150, .key_rows = 150}, 3);
  PackedOnDevice device(stream, {data}, 0);
  DeviceArray<float> scale(stream, std::vector<float>{1.0f, 0.0f, 0.5f, 2.0f});
  const auto plain = device.attend(), scaled = device.attend(true, scale.data());
  const std::vector<float> factors{1.0f, 0.0f, 0.5f, 2.0f};
  for (size_t i = 0; i < plain.output.size(); ++i) {
    ASSERT_EQ(scaled.output[i], plain.output[i] * factors[i / static_cast<size_t>(dim) % 4]);
  }
}

TEST_P(CudaAttentionBySize, QueriesThatSeeNothingGetZeros) {
  const Stream stream;
  AttentionData data = bf16_data(
      {.label = "", .head_dim = GetParam(), .query_rows = 140, .key_rows = 140, .bias = KeyBias::kRandom}, 1);
  std::fill(data.bias.begin(), data.bias.end(), kHidden);
  PackedOnDevice device(stream, {data}, 0);
  const auto result = device.attend();
  for (const float value : result.output) ASSERT_EQ(value, 0.0f);
  for (const float value : result.entropy) ASSERT_EQ(value, 0.0f);
  for (const float value : result.log_sum_exp) ASSERT_EQ(value, kHidden);
}

INSTANTIATE_TEST_SUITE_P(HeadSizes, CudaAttentionBySize, ::testing::Values(8, 32, 64, 80, 128));

}  // namespace
}  // namespace buoy

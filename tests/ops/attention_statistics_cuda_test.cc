// The second pass on the GPU against the double reference on the same bf16 numbers.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>

#include "buoy/ops/attention/attention_statistics.h"
#include "buoy/ops/moments/qk_moments_cuda.h"
#include "ops/attention_cuda_data.h"

namespace buoy {
namespace {

using testing::AttentionCase;
using testing::AttentionData;
using testing::bf16_data;
using testing::DeviceArray;
using testing::ErrorRatio;
using testing::kHidden;
using testing::PackedOnDevice;
using testing::PlainAttention;
using testing::rounded_to_bf16;

constexpr std::int64_t kGroups = 13;

std::uint8_t group_of(std::int64_t row) {
  return static_cast<std::uint8_t>(row * 7 % (kGroups + 1));  // kGroups: in none
}

// The double reference and the plain bf16 yardstick of one case.
struct Expected {
  std::vector<double> weights, received;  // [heads, queries, keys], [groups, heads, keys]
  std::vector<float> plain_received;

  explicit Expected(const AttentionData& data) {
    const AttentionCase& c = data.c;
    testing::AttentionResult unused;
    const auto sequence = data.sequence(unused);
    weights.resize(static_cast<size_t>(c.heads * c.query_rows * c.key_rows));
    ops::attention_reference(c.shape(), sequence, {nullptr, weights.data(), nullptr});
    const PlainAttention plain(data);
    received.assign(static_cast<size_t>(kGroups * c.heads * c.key_rows), 0.0);
    plain_received.assign(received.size(), 0.0f);
    for (std::int64_t h = 0; h < c.heads; ++h) {
      for (std::int64_t i = 0; i < c.query_rows; ++i) {
        if (group_of(i) >= kGroups) continue;
        for (std::int64_t j = 0; j < c.key_rows; ++j) {
          const auto to = static_cast<size_t>((group_of(i) * c.heads + h) * c.key_rows + j);
          const auto from = static_cast<size_t>((h * c.query_rows + i) * c.key_rows + j);
          received[to] += weights[from];
          plain_received[to] += rounded_to_bf16(plain.probabilities[from]);
        }
      }
    }
  }
};

struct Measured {
  std::vector<float> received, first_share, row_weights, top_weights;
  std::vector<std::int32_t> top_keys;
  std::vector<std::int32_t> rows;  // of the sequence
};

// Few and many: two kernels.
std::int64_t top_of(const AttentionCase& c) {
  return c.key_rows % 2 == 0 ? 5 : 20;
}

// With and without room after the last key.
std::int64_t row_stride(const AttentionCase& c) {
  return c.key_rows + (c.key_rows % 2 == 0 ? 0 : 3);
}

Measured measure(const Stream& stream, PackedOnDevice& device, const AttentionData& data,
                 bool rows_alone = false) {
  const AttentionCase& c = data.c;
  const auto& s = device.sequences()[0];
  std::vector<std::uint8_t> groups(static_cast<size_t>(device.rows()), 255);
  for (std::int64_t i = 0; i < c.query_rows; ++i)
    groups[static_cast<size_t>(s.query_start + i)] = group_of(i);
  Measured out;
  std::vector<std::int32_t> packed;
  for (std::int32_t i = 0; i<c.query_rows; i += c.query_rows> 40 ? 13 : 1) {
    out.rows.push_back(i);
    packed.push_back(s.query_start + i);
  }
  device.plan().set_groups(groups, kGroups, stream);
  device.plan().set_close_rows(packed, stream);
  const auto close = static_cast<std::int64_t>(out.rows.size());
  const auto stride = row_stride(c), top = top_of(c);
  DeviceArray<float> received(stream, static_cast<size_t>(kGroups * c.heads * c.key_rows)),
      first(stream, static_cast<size_t>(c.heads * device.rows())),
      weights(stream, static_cast<size_t>(close * c.heads * stride)),
      top_weights(stream, static_cast<size_t>(close * c.heads * top));
  DeviceArray<std::int32_t> top_keys(stream, static_cast<size_t>(close * c.heads * top));
  ops::attention_statistics_cuda(device.plan(), device.inputs(),
                                 {.received = rows_alone ? nullptr : received.data(),
                                  .first_share = rows_alone ? nullptr : first.data(),
                                  .row_weights = weights.data(),
                                  .row_weight_stride = stride,
                                  .top = top,
                                  .top_keys = top_keys.data(),
                                  .top_weights = top_weights.data()},
                                 stream);
  out.received = received.host();
  out.first_share = first.host();
  out.row_weights = weights.host();
  out.top_keys = top_keys.host();
  out.top_weights = top_weights.host();
  return out;
}

void expect_close_rows(const Measured& ours, const Expected& expected, const AttentionData& data) {
  const AttentionCase& c = data.c;
  const auto stride = row_stride(c), top = top_of(c);
  // The relative error of a weight is the error of its score and of the normaliser.
  const double tolerance = 2 * testing::score_tolerance(data);
  for (size_t n = 0; n < ours.rows.size(); ++n) {
    for (std::int64_t h = 0; h < c.heads; ++h) {
      const auto at = static_cast<std::int64_t>(n) * c.heads + h;
      const float* row = ours.row_weights.data() + at * stride;
      const double* exact = expected.weights.data() + (h * c.query_rows + ours.rows[n]) * c.key_rows;
      for (std::int64_t j = 0; j < c.key_rows; ++j)
        ASSERT_NEAR(row[j], exact[j], tolerance * exact[j] + 1e-37);
      for (std::int64_t j = c.key_rows; j < stride; ++j) ASSERT_EQ(row[j], 0.0f);
      std::vector<std::int32_t> order(static_cast<size_t>(c.key_rows));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return row[a] > row[b]; });
      for (std::int64_t k = 0; k < top; ++k) {
        const bool any = k < c.key_rows && row[order[static_cast<size_t>(k)]] > 0;
        ASSERT_EQ(ours.top_keys[static_cast<size_t>(at * top + k)], any ? order[static_cast<size_t>(k)] : -1);
        ASSERT_EQ(ours.top_weights[static_cast<size_t>(at * top + k)],
                  any ? row[order[static_cast<size_t>(k)]] : 0);
      }
    }
  }
}

class CudaStatistics : public ::testing::TestWithParam<AttentionCase> {
 protected:
  void SetUp() override {
    if (!testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
};

TEST_P(CudaStatistics, MatchTheDoubleReference) {
  const Stream stream;
  for (const bool hopper : {true, false}) {
    ErrorRatio errors;
    for (std::uint64_t seed = 1; !errors.enough(); seed += 10) {
      const AttentionData data = bf16_data(GetParam(), seed);
      const AttentionCase& c = data.c;
      PackedOnDevice device(stream, {data}, c.query_rows);
      device.plan().allow_hopper(hopper);
      device.attend();
      const Measured ours = measure(stream, device, data);
      const Expected expected(data);
      errors.add(ours.received, expected.plain_received, expected.received);
      for (size_t i = 0; i < ours.received.size(); ++i) {
        const size_t key = i % static_cast<size_t>(c.key_rows);
        if (!data.bias.empty() && data.bias[key] == kHidden) {
          ASSERT_EQ(ours.received[i], 0.0f) << "a hidden key receives nothing";
        }
      }
      const double tolerance = 2 * testing::score_tolerance(data);
      for (std::int64_t h = 0; h < c.heads; ++h) {
        for (std::int64_t i = 0; i < c.query_rows; ++i) {
          const double exact = expected.weights[static_cast<size_t>((h * c.query_rows + i) * c.key_rows)];
          ASSERT_NEAR(ours.first_share[static_cast<size_t>(h * device.rows() +
                                                           device.sequences()[0].query_start + i)],
                      exact, tolerance * exact + 1e-37);
        }
      }
      expect_close_rows(ours, expected, data);
      expect_close_rows(measure(stream, device, data, true), expected, data);
      EXPECT_EQ(measure(stream, device, data).received, ours.received) << "reproducible to the bit";
    }
    errors.expect_at_most_twice(hopper ? "received" : "received_general");
  }
}

// A layer among those that are measured together: its numbers, and what comes of them.
struct Layer {
  Layer(const Stream& stream, const AttentionCase& c, std::uint64_t seed)
      : device(stream, {bf16_data(c, seed)}, c.query_rows),
        received(stream, static_cast<size_t>(kGroups * c.heads * c.key_rows)),
        weights(stream, static_cast<size_t>(c.query_rows * c.heads * c.key_rows)) {
    for (int i = 0; i < 4; ++i) moments.emplace_back(stream, static_cast<size_t>(c.heads * c.key_rows));
    wanted.inputs = device.inputs();
    wanted.after = {moments[0].data(), moments[1].data(), moments[2].data(), moments[3].data()};
  }
  // Some layers are asked for more than others.
  ops::DeviceAttentionStatistics statistics(size_t number, std::int64_t stride) {
    return {.received = number % 5 == 3 ? nullptr : received.data(),
            .row_weights = number % 4 == 1 ? nullptr : weights.data(),
            .row_weight_stride = stride,
            .moments = number % 7 == 6 ? nullptr : &wanted};
  }
  std::vector<std::vector<float>> results() const {
    std::vector<std::vector<float>> all = {received.host(), weights.host()};
    for (const auto& one : moments) all.push_back(one.host());
    return all;
  }

  PackedOnDevice device;
  DeviceArray<float> received, weights;
  std::vector<DeviceArray<float>> moments;
  ops::DeviceQkMoments wanted;
};

// To the bit, NaNs where nothing was to be written.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// More layers than one launch takes.
TEST(CudaStatisticsOfLayers, AreThoseOfEachLayerAlone) {
  if (!testing::has_gpu()) GTEST_SKIP() << "no GPU";
  constexpr size_t kLayers = 30;
  const Stream stream;
  for (const std::int64_t rows : {1, 4, 9, 32, 40}) {
    const AttentionCase c{.label = "together",
                          .heads = 8,
                          .kv_heads = 2,
                          .head_dim = 128,
                          .query_rows = rows,
                          .first_position = 132 - rows,
                          .key_rows = 132,
                          .mask = {ops::MaskKind::kBidirectional, 0}};
    std::vector<std::vector<std::vector<float>>> found;  // together, apart
    for (const bool together : {true, false}) {
      std::vector<std::unique_ptr<Layer>> layers;
      for (size_t n = 0; n < kLayers; ++n) layers.push_back(std::make_unique<Layer>(stream, c, 10 * n + 1));
      ops::AttentionPlan plan(c.shape(), {1, layers[0]->device.rows(), c.key_rows, true, rows, kLayers});
      plan.set_sequences(layers[0]->device.sequences(), stream);
      std::vector<std::uint8_t> groups(static_cast<size_t>(layers[0]->device.rows()), 255);
      std::vector<std::int32_t> close;
      for (std::int64_t i = 0; i < rows; ++i) {
        close.push_back(layers[0]->device.sequences()[0].query_start + static_cast<std::int32_t>(i));
        groups[static_cast<size_t>(close.back())] = group_of(i);
      }
      plan.set_groups(groups, kGroups, stream);
      plan.set_close_rows(close, stream);
      DeviceArray<std::uint16_t> output(stream,
                                        static_cast<size_t>(layers[0]->device.rows() * c.heads * c.head_dim));
      std::vector<ops::DeviceLayerToMeasure> waiting;
      for (size_t n = 0; n < kLayers; ++n) {
        plan.use_lane(static_cast<std::int64_t>(n));
        ops::attention_cuda(plan, layers[n]->device.inputs(),
                            {.output = output.data(), .output_stride = c.heads * c.head_dim}, stream);
        waiting.push_back(
            {static_cast<std::int64_t>(n), layers[n]->device.inputs(), layers[n]->statistics(n, c.key_rows)});
        if (!together) ops::attention_statistics_cuda(plan, waiting[n].inputs, waiting[n].wanted, stream);
      }
      if (together) ops::attention_statistics_cuda(plan, waiting, stream);
      stream.synchronize();
      found.emplace_back();
      for (const auto& layer : layers) {
        for (auto& result : layer->results()) found.back().push_back(std::move(result));
      }
    }
    ASSERT_EQ(found[0].size(), 6 * kLayers);
    for (size_t n = 0; n < found[0].size(); ++n)
      ASSERT_TRUE(same_bits(found[0][n], found[1][n]))
          << rows << " rows, layer " << n / 6 << ", result " << n % 6;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaStatistics, ::testing::ValuesIn(testing::cuda_statistics_cases()),
                         testing::name_of_attention_case);

}  // namespace
}  // namespace buoy

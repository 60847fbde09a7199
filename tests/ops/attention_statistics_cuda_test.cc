// The second pass on the GPU against the double reference on the same bf16 numbers.

#include <gtest/gtest.h>

#include <numeric>

#include "buoy/ops/attention/attention_statistics.h"
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

INSTANTIATE_TEST_SUITE_P(Cases, CudaStatistics, ::testing::ValuesIn(testing::cuda_statistics_cases()),
                         testing::name_of_attention_case);

}  // namespace
}  // namespace buoy

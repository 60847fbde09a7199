// Every statistic of the second pass against the whole matrix in double. Rule: error at most twice that of
// the same statistic formed from a plain float32 matrix, plus one rounding of the numbers themselves.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "buoy/base/random.h"
#include "buoy/ops/attention/attention_statistics.h"
#include "buoy/ops/moments/qk_moments.h"
#include "ops/references/attended.h"

namespace buoy::ops {
namespace {

// A plain float32 matrix of weights: the yardstick.
std::vector<float> plain_weights(const Attended& run) {
  const auto& s = run.sequence;
  const auto& shape = run.shape;
  std::vector<float> p(static_cast<size_t>(shape.heads * s.query_rows * s.key_rows), 0.0f);
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    for (std::int64_t i = 0; i < s.query_rows; ++i) {
      float* row = p.data() + (h * s.query_rows + i) * s.key_rows;
      const std::int64_t end = visible_end(shape, s, i);
      float top = kHidden, sum = 0;
      for (std::int64_t j = 0; j < end; ++j) {
        float dot = 0;
        for (std::int64_t d = 0; d < shape.head_dim; ++d) {
          dot += s.queries[(i * shape.heads + h) * shape.head_dim + d] *
                 s.keys[(j * shape.kv_heads + h / (shape.heads / shape.kv_heads)) * shape.head_dim + d];
        }
        row[j] = dot / std::sqrt(static_cast<float>(shape.head_dim)) +
                 (s.key_bias != nullptr ? s.key_bias[h * s.key_bias_stride + j] : 0.0f);
        top = std::max(top, row[j]);
      }
      for (std::int64_t j = 0; j < end; ++j) sum += row[j] = top == kHidden ? 0.0f : std::exp(row[j] - top);
      for (std::int64_t j = 0; j < end; ++j) row[j] = sum > 0 ? row[j] / sum : 0.0f;
    }
  }
  return p;
}

template <typename A, typename B>
double rms(const A& a, const B& b) {
  double total = 0;
  for (size_t i = 0; i < a.size(); ++i) total += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return std::sqrt(total / static_cast<double>(a.size()));
}

double size_of_numbers(const std::vector<double>& values) {
  return rms(values, std::vector<double>(values.size(), 0.0));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const AttentionMask both{MaskKind::kBidirectional, 0}, causal{MaskKind::kCausal, 0},
      blocks{MaskKind::kBlockCausal, 32};
  for (const std::int64_t length : {1, 2, 31, 32, 33, 255, 256, 257, 600}) {
    for (const auto& mask : {both, causal, blocks}) {
      all.push_back({length, length, 4, 4, 16, mask, false});
      all.push_back({length, length, 8, 2, 32, mask, true});
      all.push_back({length, length, 7, 1, 8, mask, false});
    }
  }
  for (const std::int64_t length : {1, 33, 257, 600}) {
    for (const std::int64_t prefix : {std::int64_t{0}, std::int64_t{1}, length / 2, length})
      all.push_back({length, length, 8, 2, 32, {MaskKind::kPrefix, 0}, length == 257, prefix});
  }
  all.push_back({40, 300, 4, 2, 16, {MaskKind::kPrefix, 0}, false, 280});
  all.push_back({1, 300, 4, 1, 64, causal, false});
  all.push_back({3, 300, 4, 2, 128, both, true});
  return all;
}

class Statistics : public ::testing::TestWithParam<Case> {};

TEST_P(Statistics, MatchTheDoubleReference) {
  const Case& c = GetParam();
  Attended run(c);
  const std::int64_t rows = c.heads * c.queries, columns = c.heads * c.keys, groups = 3;
  std::vector<std::uint8_t> group_of_row(static_cast<size_t>(c.queries));
  for (size_t i = 0; i < group_of_row.size(); ++i)
    group_of_row[i] = static_cast<std::uint8_t>(i % 4);  // 3: in none
  std::vector<float> received(static_cast<size_t>(groups * columns)), entropy(static_cast<size_t>(rows)),
      lse(entropy), first(entropy);
  AttentionStatistics wanted;
  wanted.groups = groups;
  wanted.group_of_row = group_of_row.data();
  wanted.received = received.data();
  wanted.entropy = entropy.data();
  wanted.log_sum_exp = lse.data();
  wanted.first_share = first.data();
  attention_statistics({run.threads}, run.shape, run.sequence, wanted);

  std::vector<double> exact_received(received.size()), exact_entropy(entropy.size()), exact_lse(lse.size());
  attention_statistics_reference(run.shape, run.sequence, wanted,
                                 {exact_received.data(), exact_entropy.data(), exact_lse.data()});

  const auto p = plain_weights(run);
  std::vector<float> plain_received(received.size(), 0.0f), plain_entropy(entropy.size(), 0.0f);
  for (std::int64_t h = 0; h < c.heads; ++h) {
    for (std::int64_t i = 0; i < c.queries; ++i) {
      const float* row = p.data() + (h * c.queries + i) * c.keys;
      for (std::int64_t j = 0; j < c.keys; ++j) {
        if (group_of_row[static_cast<size_t>(i)] < groups) {
          plain_received[static_cast<size_t>((group_of_row[static_cast<size_t>(i)] * c.heads + h) * c.keys +
                                             j)] += row[j];
        }
        if (row[j] > 0) plain_entropy[static_cast<size_t>(h * c.queries + i)] -= row[j] * std::log(row[j]);
      }
    }
  }
  const double rounding = std::numeric_limits<float>::epsilon() / 2;
  EXPECT_LE(rms(received, exact_received),
            2 * rms(plain_received, exact_received) + rounding * size_of_numbers(exact_received));
  EXPECT_LE(rms(entropy, exact_entropy),
            2 * rms(plain_entropy, exact_entropy) + rounding * size_of_numbers(exact_entropy));

  double whole = 0, counted = 0;
  for (std::int64_t h = 0; h < c.heads; ++h) {
    for (std::int64_t i = 0; i < c.queries; ++i) {
      const auto at = static_cast<size_t>(h * c.queries + i);
      const double visible = static_cast<double>(visible_end(run.shape, run.sequence, i));
      EXPECT_GE(entropy[at], -1e-5f);
      EXPECT_LE(entropy[at], std::log(visible) + 1e-5);
      if (run.sum[at] > 0) {
        EXPECT_NEAR(lse[at], exact_lse[at], 4 * rounding * (1 + std::fabs(exact_lse[at])) + 1e-5);
        EXPECT_NEAR(first[at], p[static_cast<size_t>(at) * static_cast<size_t>(c.keys)], 1e-5);
        counted += group_of_row[static_cast<size_t>(i)] < groups ? 1 : 0;
      } else {
        EXPECT_EQ(lse[at], kHidden);
        EXPECT_EQ(first[at], 0.0f);
      }
    }
  }
  whole = std::accumulate(received.begin(), received.end(), 0.0);
  EXPECT_NEAR(whole, counted, 1e-6 * (counted + 1)) << "each query of a group gives away exactly one";
  if (c.bias) {
    for (std::int64_t g = 0; g < groups; ++g) {
      for (std::int64_t k = 0; k < columns; k += 3)
        EXPECT_EQ(received[static_cast<size_t>(g * columns + k)], 0.0f) << "hidden column";
    }
  }
}

TEST_P(Statistics, RowsAndTopKeysAreTheWeightsThemselves) {
  const Case& c = GetParam();
  Attended run(c);
  std::vector<std::int32_t> rows = {0};
  if (c.queries > 2)
    rows = {0, static_cast<std::int32_t>(c.queries / 2), static_cast<std::int32_t>(c.queries - 1)};
  const std::int64_t top = 3;
  std::vector<float> weights(rows.size() * static_cast<size_t>(c.heads * c.keys));
  std::vector<std::int32_t> keys(rows.size() * static_cast<size_t>(c.heads * top));
  std::vector<float> strongest(keys.size()), dense(static_cast<size_t>(c.heads * c.queries * c.keys));
  AttentionStatistics wanted;
  wanted.rows = rows;
  wanted.row_weights = weights.data();
  wanted.top = top;
  wanted.top_keys = keys.data();
  wanted.top_weights = strongest.data();
  attention_statistics({run.threads}, run.shape, run.sequence, wanted);
  attention_probabilities({run.threads}, run.shape, run.sequence, {dense.data(), nullptr});
  for (size_t n = 0; n < rows.size(); ++n) {
    for (std::int64_t h = 0; h < c.heads; ++h) {
      const size_t at = n * static_cast<size_t>(c.heads) + static_cast<size_t>(h);
      const float* row = weights.data() + at * static_cast<size_t>(c.keys);
      const float* same = dense.data() + (h * c.queries + rows[n]) * c.keys;
      for (std::int64_t j = 0; j < c.keys; ++j) ASSERT_NEAR(row[j], same[j], 3e-7 * (same[j] + 1e-3));
      for (std::int64_t k = 0; k < top; ++k) {
        const auto key = keys[at * 3 + static_cast<size_t>(k)];
        const auto better =
            std::count_if(row, row + c.keys, [&](float w) { return key >= 0 && w > row[key]; });
        if (key >= 0) {
          EXPECT_LE(better, k);
          EXPECT_EQ(strongest[at * 3 + static_cast<size_t>(k)], row[key]);
        } else {
          EXPECT_LE(std::count_if(row, row + c.keys, [](float w) { return w > 0; }), k);
        }
      }
    }
  }
}

TEST_P(Statistics, QkMomentsMatchAllPairs) {
  const Case& c = GetParam();
  Attended run(c);
  const auto columns = static_cast<size_t>(c.heads * c.keys);
  std::vector<float> dot(columns), cosine(columns), product(columns), self(columns);
  QkMoments wanted;
  wanted.dot = dot.data();
  wanted.cosine = cosine.data();
  wanted.norm_product = product.data();
  wanted.self_dot = self.data();
  qk_moments({run.threads}, run.shape, run.sequence, wanted);
  std::vector<double> exact_dot(columns), exact_cosine(columns), exact_product(columns);
  qk_moments_reference(run.shape, run.sequence, wanted,
                       {exact_dot.data(), exact_cosine.data(), exact_product.data()});
  // Sums are in double, so what remains is the rounding of the result to float.
  const double rounding = std::numeric_limits<float>::epsilon();
  EXPECT_LE(rms(dot, exact_dot), rounding * size_of_numbers(exact_dot));
  EXPECT_LE(rms(cosine, exact_cosine), rounding * size_of_numbers(exact_cosine));
  EXPECT_LE(rms(product, exact_product), rounding * size_of_numbers(exact_product));
}

TEST_P(Statistics, ThreadsChangeNoBit) {
  const Case& c = GetParam();
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 3}) {
    Attended run(c, threads);
    std::vector<float> received(static_cast<size_t>(c.heads * c.keys));
    AttentionStatistics wanted;
    wanted.received = received.data();
    attention_statistics({run.threads}, run.shape, run.sequence, wanted);
    results.push_back(received);
  }
  EXPECT_EQ(results[0], results[1]);
}

INSTANTIATE_TEST_SUITE_P(Cases, Statistics, ::testing::ValuesIn(cases()));

// Properties that hold whatever the numbers are.
TEST_P(Statistics, GroupsAddUpEntropyIsBoundedHiddenKeysGetNothing) {
  const Case& c = GetParam();
  Attended run(c);
  const auto keys = static_cast<size_t>(c.keys), columns = static_cast<size_t>(c.heads * c.keys),
             rows = static_cast<size_t>(c.heads * c.queries);
  std::vector<std::uint8_t> groups(static_cast<size_t>(c.queries));
  for (size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<std::uint8_t>(i % 16);
  std::vector<float> split(16 * columns), whole(columns), entropy(rows);
  AttentionStatistics by_group;
  by_group.groups = 16;
  by_group.group_of_row = groups.data();
  by_group.received = split.data();
  attention_statistics({run.threads}, run.shape, run.sequence, by_group);
  AttentionStatistics all;
  all.received = whole.data();
  all.entropy = entropy.data();
  attention_statistics({run.threads}, run.shape, run.sequence, all);
  for (size_t i = 0; i < columns; ++i) {
    double sum = 0;
    for (size_t g = 0; g < 16; ++g) sum += split[g * columns + i];
    EXPECT_NEAR(sum, whole[i], 17 * 6e-8 * (1 + whole[i])) << "groups add up to the whole";
    if (c.bias && i % 3 == 0) {
      EXPECT_EQ(whole[i], 0.0f) << "a hidden key receives exactly nothing";
    }
  }
  for (size_t h = 0; h < static_cast<size_t>(c.heads); ++h) {
    double total = 0, seeing = 0;
    for (size_t j = 0; j < keys; ++j) total += whole[h * keys + j];
    for (std::int64_t i = 0; i < c.queries; ++i) {
      const std::int64_t end = visible_end(run.shape, run.sequence, i);
      std::int64_t visible = 0;
      for (std::int64_t j = 0; j < end; ++j)
        visible += !c.bias || run.bias[h * keys + static_cast<size_t>(j)] != kHidden;
      seeing += visible > 0;
      const float e = entropy[h * static_cast<size_t>(c.queries) + static_cast<size_t>(i)];
      EXPECT_GE(e, -1e-5);
      EXPECT_LE(e, std::log(std::max<double>(1, static_cast<double>(visible))) + 1e-5);
    }
    EXPECT_NEAR(total, seeing, 1e-5 * (1 + seeing)) << "each query that sees something gives away one";
  }
}

}  // namespace
}  // namespace buoy::ops

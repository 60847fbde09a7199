#pragma once

#include <cstring>
#include <limits>
#include <vector>

#include "buoy/ops/attention/attention.h"
#include "ops/cases.h"
#include "ops/error_ratio.h"

namespace buoy::testing {

inline constexpr float kHidden = -std::numeric_limits<float>::infinity();

struct AttentionResult {
  std::vector<float> output;            // [query_rows, heads, head_dim]
  std::vector<float> row_top, row_sum;  // [heads, query_rows]

  bool operator==(const AttentionResult& other) const {  // to the bit
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    };
    return same(output, other.output) && same(row_top, other.row_top) && same(row_sum, other.row_sum);
  }
};

// Queries, keys, values and bias of a case, and what the operations make of them.
struct AttentionData {
  AttentionCase c;
  std::vector<float> queries, keys, values, bias;

  AttentionData(const AttentionCase& attention_case, std::uint64_t seed)
      : c(attention_case),
        queries(normal_numbers(seed, c.query_rows * c.heads * c.head_dim, c.score_scale)),
        keys(normal_numbers(seed + 1, c.key_rows * c.kv_heads * c.head_dim)),
        values(normal_numbers(seed + 2, c.key_rows * c.kv_heads * c.head_dim)) {
    if (c.bias != KeyBias::kNone) bias = normal_numbers(seed + 3, c.key_rows, 2);
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(bias.size()); ++j) {
      float& entry = bias[static_cast<size_t>(j)];
      if (c.bias == KeyBias::kSomeHidden && j % 3 == 0) entry = kHidden;
      if (c.bias == KeyBias::kPadding) entry = j < c.key_rows - 30 ? kHidden : 0.0f;
    }
  }

  ops::AttentionSequence sequence(AttentionResult& result) const {
    result.output.assign(queries.size(), NAN);
    result.row_top.assign(static_cast<size_t>(c.heads * c.query_rows), NAN);
    result.row_sum.assign(static_cast<size_t>(c.heads * c.query_rows), NAN);
    return {.queries = queries.data(),
            .query_rows = c.query_rows,
            .first_position = c.first_position,
            .keys = keys.data(),
            .values = values.data(),
            .key_rows = c.key_rows,
            .key_bias = bias.empty() ? nullptr : bias.data(),
            .output = result.output.data(),
            .row_top = result.row_top.data(),
            .row_sum = result.row_sum.data(),
            .prefix = c.prefix,
            .grid_origin = c.grid_origin};
  }

  bool sees(std::int64_t row, std::int64_t key) const {
    return key < ops::visible_end(c.mask, c.prefix, c.first_position + row, c.key_rows, c.grid_origin) &&
           (bias.empty() || bias[static_cast<size_t>(key)] != kHidden);
  }

  AttentionResult attend(int thread_count = 2) const {
    AttentionResult result;
    const auto one = sequence(result);
    ThreadPool threads(thread_count);
    ops::AttentionScratch scratch;
    ops::attention({threads}, c.shape(), {&one, 1}, scratch);
    return result;
  }
};

// A softmax in two passes, all in float.
struct PlainAttention : AttentionResult {
  std::vector<float> probabilities;  // [heads, query_rows, key_rows]

  explicit PlainAttention(const AttentionData& data) {
    const AttentionCase& c = data.c;
    data.sequence(*this);
    const float scale = 1 / std::sqrt(static_cast<float>(c.head_dim));
    for (std::int64_t head = 0; head < c.heads; ++head) {
      for (std::int64_t row = 0; row < c.query_rows; ++row) {
        const std::int64_t kv_head = head / (c.heads / c.kv_heads);
        const float* query = data.queries.data() + (row * c.heads + head) * c.head_dim;
        std::vector<float> weights(static_cast<size_t>(c.key_rows), kHidden);
        float top = kHidden, sum = 0;
        for (std::int64_t j = 0; j < c.key_rows; ++j) {
          if (!data.sees(row, j)) continue;
          const float* key = data.keys.data() + (j * c.kv_heads + kv_head) * c.head_dim;
          float dot = 0;
          for (std::int64_t i = 0; i < c.head_dim; ++i) dot += query[i] * key[i];
          weights[static_cast<size_t>(j)] =
              dot * scale + (data.bias.empty() ? 0 : data.bias[static_cast<size_t>(j)]);
          top = std::max(top, weights[static_cast<size_t>(j)]);
        }
        for (float& weight : weights) sum += weight = weight == kHidden ? 0 : std::exp(weight - top);
        for (std::int64_t i = 0; i < c.head_dim; ++i) {
          float value = 0;
          for (std::int64_t j = 0; j < c.key_rows; ++j) {
            value += weights[static_cast<size_t>(j)] *
                     data.values[static_cast<size_t>((j * c.kv_heads + kv_head) * c.head_dim + i)];
          }
          output[static_cast<size_t>((row * c.heads + head) * c.head_dim + i)] = sum > 0 ? value / sum : 0;
        }
        for (const float weight : weights) probabilities.push_back(sum > 0 ? weight / sum : 0);
        row_top[static_cast<size_t>(head * c.query_rows + row)] = top;
        row_sum[static_cast<size_t>(head * c.query_rows + row)] = sum;
      }
    }
  }
};

inline std::string name_of_attention_case(const ::testing::TestParamInfo<AttentionCase>& info) {
  return info.param.label;
}

}  // namespace buoy::testing

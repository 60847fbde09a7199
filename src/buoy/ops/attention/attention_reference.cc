#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "buoy/ops/attention/attention.h"

namespace buoy::ops {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

// Scores of one query against all keys; minus infinity where it may not look.
std::vector<double> scores(const AttentionShape& shape, const AttentionSequence& s, std::int64_t head,
                           std::int64_t row) {
  std::vector<double> out(static_cast<size_t>(s.key_rows), kHidden);
  const std::int64_t kv_head = head / (shape.heads / shape.kv_heads);
  const std::int64_t end = visible_end(shape, s, row);
  for (std::int64_t j = 0; j < end; ++j) {
    double dot = 0;
    for (std::int64_t i = 0; i < shape.head_dim; ++i) {
      dot += double{s.queries[(row * shape.heads + head) * shape.head_dim + i]} *
             s.keys[(j * shape.kv_heads + kv_head) * shape.head_dim + i];
    }
    out[static_cast<size_t>(j)] = dot / std::sqrt(static_cast<double>(shape.head_dim)) +
                                  (s.key_bias != nullptr ? s.key_bias[head * s.key_bias_stride + j] : 0.0);
  }
  return out;
}

}  // namespace

void attention_reference(const AttentionShape& shape, const AttentionSequence& s,
                         const ReferenceAttention& out) {
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    const std::int64_t kv_head = head / (shape.heads / shape.kv_heads);
    for (std::int64_t row = 0; row < s.query_rows; ++row) {
      auto p = scores(shape, s, head, row);
      const double top = p.empty() ? kHidden : *std::max_element(p.begin(), p.end());
      double sum = 0;
      for (double& value : p) {
        value = top == kHidden ? 0.0 : std::exp(value - top);
        sum += value;
      }
      for (double& value : p) value = sum > 0 ? value / sum : 0.0;
      if (out.log_sum_exp != nullptr) {
        out.log_sum_exp[head * s.query_rows + row] = sum > 0 ? top + std::log(sum) : kHidden;
      }
      if (out.probabilities != nullptr) {
        std::copy(p.begin(), p.end(), out.probabilities + (head * s.query_rows + row) * s.key_rows);
      }
      if (out.output == nullptr) continue;
      for (std::int64_t i = 0; i < shape.head_dim; ++i) {
        double value = 0;
        for (std::int64_t j = 0; j < s.key_rows; ++j) {
          value += p[static_cast<size_t>(j)] * s.values[(j * shape.kv_heads + kv_head) * shape.head_dim + i];
        }
        if (s.head_scale != nullptr) value *= s.head_scale[head];
        out.output[(row * shape.heads + head) * shape.head_dim + i] = value;
      }
    }
  }
}

}  // namespace buoy::ops

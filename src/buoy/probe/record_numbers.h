#pragma once

#include <cstdint>
#include <vector>

#include "buoy/probe/record.h"

namespace buoy::probe {

// Calls visit(numbers) of every list of numbers in a record, in a fixed order; what `states` points at is
// none of them.
template <typename Record, typename Visit>
void for_each_list(Record& record, const Visit& visit) {
  const auto all = [&](auto&... lists) { (visit(lists), ...); };
  all(record.received, record.followed, record.entropy, record.log_sum_exp, record.first_share,
      record.row_weights, record.row_mass, record.group_mass, record.top_keys, record.top_weights);
  for (auto* qk : {&record.qk_after, &record.qk_before})
    all(qk->dot, qk->cosine, qk->norm_product, qk->self_dot);
  all(record.query_norm, record.key_norm, record.value_norm, record.head_norm, record.key_cosine,
      record.value_cosine, record.dense, record.dense_mean);
  auto& residual = record.residual;
  all(residual.pre, residual.attention_out, residual.mid, residual.mlp_out, residual.post, residual.head_out,
      residual.lens_tokens, residual.lens_probabilities, residual.attention_norm, residual.mlp_norm,
      residual.norm, residual.peak, residual.peak_at, residual.cosine);
  auto& routing = record.routing;
  all(routing.experts, routing.weights, routing.entropy, routing.load);
  auto& predictions = record.predictions;
  all(predictions.confidence, predictions.entropy, predictions.margin, predictions.top_tokens,
      predictions.top_probabilities);
}

// Bytes of all its lists.
inline std::uint64_t bytes_of(const LayerRecord& record) {
  std::uint64_t bytes = 0;
  for_each_list(record, [&](const auto& list) { bytes += list.size() * sizeof(list[0]); });
  return bytes;
}

}  // namespace buoy::probe

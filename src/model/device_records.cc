// How a layer's packed results become one record per sequence.
#include <cmath>
#include <functional>

#include "model/device_observer.h"

namespace buoy::model {
namespace {

// `pieces` stretches of `count` numbers, `stride` apart.
template <typename T>
void gather(std::vector<T>& out, const T* from, std::int64_t pieces, std::int64_t stride,
            std::int64_t count) {
  if (stride == count || pieces == 1) {
    out.assign(from, from + pieces * count);
    return;
  }
  out.reserve(static_cast<size_t>(pieces * count));
  for (std::int64_t i = 0; i < pieces; ++i)
    out.insert(out.end(), from + i * stride, from + i * stride + count);
}

}  // namespace

probe::LayerRecord DeviceObserver::record(const Context& context, const Slot& from, const LayerWants& wanted,
                                          size_t n) const {
  const probe::LayerRequest& request = wanted.observations[n].request;
  const auto& sequence = batch_->sequences[n];
  const std::int64_t heads = config_.heads, kv_heads = config_.kv_heads, rows = batch_->rows();
  const std::int64_t query_rows = sequence.rows(), key_rows = key_rows_[n];
  const std::int64_t first_row = batch_->first_rows[n], first_column = first_columns_[n];
  const auto close = static_cast<std::int64_t>(request.rows.size());
  const std::int64_t first_close = wanted.first_close[n];
  const float* base = from.host.as<float>();
  const ObservationLayout& layout = from.layout;

  probe::LayerRecord out;
  out.states = {query_rows,
                key_rows,
                sequence.past(),
                heads,
                kv_heads,
                config_.head_dim,
                mask_ == ops::MaskKind::kCausal,
                nullptr,
                nullptr,
                nullptr};
  if (request.states) {
    out.states.queries = from.queries[n].data();
    out.states.keys = from.keys[n].data();
    out.states.values = from.values[n].data();
  }
  // Megabytes per layer at long contexts: every array is a task of its own.
  std::vector<std::function<void()>> tasks;
  const auto per_row = [&](bool wish, std::vector<float>& to, std::int64_t offset) {
    if (wish)
      tasks.push_back([&to, base, offset, heads, rows, first_row, query_rows] {
        gather(to, base + offset + first_row, heads, rows, query_rows);
      });
  };
  const auto per_column = [&](bool wish, std::vector<float>& to, std::int64_t offset, std::int64_t pieces) {
    if (wish)
      tasks.push_back([&to, base, offset, pieces, this, first_column, key_rows] {
        gather(to, base + offset + first_column, pieces, columns_, key_rows);
      });
  };
  const bool whole_rows = request.row_weights && close > 0;
  if (whole_rows) {
    tasks.push_back([&] {
      gather(out.row_weights, base + layout.row_weights + first_close * heads * layout.row_weight_stride,
             close * heads, layout.row_weight_stride, key_rows);
    });
  }
  per_column(request.received, out.received, layout.received, request.groups * heads);
  per_row(request.entropy, out.entropy, layout.entropy);
  per_row(request.log_sum_exp, out.log_sum_exp, layout.log_sum_exp);
  per_row(request.first_share, out.first_share, layout.first_share);
  const std::int64_t part = heads * columns_;
  const auto moments = [&](bool wish, probe::QkRecord& to, std::int64_t offset) {
    per_column(wish, to.dot, offset, heads);
    per_column(wish, to.cosine, offset + part, heads);
    per_column(wish, to.norm_product, offset + 2 * part, heads);
    per_column(wish, to.self_dot, offset + 3 * part, heads);
  };
  moments(request.qk_after, out.qk_after, layout.after);
  moments(request.qk_before, out.qk_before, layout.before);
  per_row(request.norms, out.query_norm, layout.query_norm);
  per_column(request.norms, out.key_norm, layout.key_norm, kv_heads);
  per_column(request.norms, out.value_norm, layout.value_norm, kv_heads);
  context.threads.run(static_cast<std::int64_t>(tasks.size()),
                      [&](std::int64_t task, int) { tasks[static_cast<size_t>(task)](); });

  if (request.top > 0 && close > 0) {
    const std::int64_t first = first_close * heads * wanted.top;
    gather(out.top_keys, reinterpret_cast<const std::int32_t*>(base + layout.top_keys) + first, close * heads,
           wanted.top, request.top);
    gather(out.top_weights, base + layout.top_weights + first, close * heads, wanted.top, request.top);
  }
  if (request.dense || request.dense_mean) {
    // With the log-sum-exp as the row's top, the sum of its exponentials is 1.
    std::vector<float> tops, sums;
    gather(tops, base + layout.log_sum_exp + first_row, heads, rows, query_rows);
    for (float& top : tops) {
      sums.push_back(std::isinf(top) ? 0.0f : 1.0f);
      if (std::isinf(top)) top = 0;
    }
    const auto bias = wanted.observations[n].intervention.key_bias;
    ops::AttentionSequence states{};
    states.queries = from.queries[n].data();
    states.query_rows = query_rows;
    states.first_position = sequence.past();
    states.keys = from.keys[n].data();
    states.values = from.values[n].data();
    states.key_rows = key_rows;
    states.key_bias = bias.empty() ? nullptr : bias.data();
    states.key_bias_stride = static_cast<std::int64_t>(bias.size()) > key_rows ? key_rows : 0;
    states.row_top = tops.data();
    states.row_sum = sums.data();
    if (request.dense) out.dense.resize(static_cast<size_t>(heads * query_rows * key_rows));
    if (request.dense_mean) out.dense_mean.resize(static_cast<size_t>(query_rows * key_rows));
    ops::attention_probabilities(
        context, {heads, kv_heads, config_.head_dim, {mask_, 0}}, states,
        {request.dense ? out.dense.data() : nullptr, request.dense_mean ? out.dense_mean.data() : nullptr});
  }
  return out;
}

void DeviceObserver::deliver(const Context& context, Slot& from) {
  from.arrived.synchronize();
  const LayerWants& wanted = wants(from.layer);
  for (size_t n = 0; n < wanted.observations.size(); ++n) {
    if (wanted.observations[n].request.any())
      probe_->take(wanted.observations[n].address, record(context, from, wanted, n));
  }
  from.layer = -1;
}

}  // namespace buoy::model

// How a layer's packed results become one record per sequence.
#include <algorithm>
#include <cmath>

#include "buoy/model/block_grid.h"
#include "buoy/model/device/device_observer.h"
#include "buoy/model/device/device_record.h"
#include "buoy/model/device/record_gather.h"
#include "buoy/model/residual_stream.h"

namespace buoy::model {
namespace {

// Rows that were looked at closely, [rows, heads, stride], of which the record gets the keys that exist.
struct Rows {
  const float* weights;
  std::int64_t heads, stride, keys;
};

// Copies of all rows, and their sums: what keys receive of each group.
void gather_rows(std::vector<Gather<float>>& gathers, const probe::LayerRequest& request, const Rows& from,
                 probe::LayerRecord& out) {
  const std::int64_t count = std::ssize(request.rows), numbers = from.heads * from.keys;
  out.row_weights.resize(static_cast<size_t>(count * numbers));
  std::vector<std::vector<std::int64_t>> rows_of(static_cast<size_t>(request.groups));
  for (std::int64_t row = 0; row < count; ++row) {
    const auto group = request.group_of(static_cast<size_t>(request.rows[static_cast<size_t>(row)]));
    if (group < rows_of.size()) {
      rows_of[group].push_back(row);
    } else {
      gathers.push_back({&out.row_weights, from.weights + row * from.heads * from.stride, from.heads,
                         from.stride, from.keys, count * numbers, row * numbers});
    }
  }
  for (std::int64_t group = 0; group < request.groups; ++group) {
    Gather<float> sums{&out.received,  nullptr, from.heads, from.stride, from.keys, request.groups * numbers,
                       group * numbers};
    for (const std::int64_t row : rows_of[static_cast<size_t>(group)]) {
      const float* first = from.weights + row * from.heads * from.stride;
      if (sums.from == nullptr) sums.from = first;
      sums.terms.push_back({first - sums.from, row * numbers});
    }
    if (!sums.terms.empty()) sums.copies = &out.row_weights;
    gathers.push_back(std::move(sums));
  }
}

}  // namespace

void RecordPlace::fill(const float* results, probe::LayerRecord& out, const Context* context) const {
  const std::int64_t heads = states.heads, kv_heads = states.kv_heads, query_rows = states.query_rows,
                     key_rows = states.key_rows;
  const auto close = static_cast<std::int64_t>(request.rows.size());
  out.states = states;
  std::vector<Gather<float>> gathers;
  const auto gather = [&](bool wish, std::vector<float>& to, std::int64_t offset, std::int64_t pieces,
                          std::int64_t stride, std::int64_t count) {
    to.resize(wish ? to.size() : 0);
    if (wish) gathers.push_back({&to, results + offset, pieces, stride, count, pieces * count});
  };
  const auto per_row = [&](bool wish, std::vector<float>& to, std::int64_t offset) {
    gather(wish, to, offset + first_row, heads, rows, query_rows);
  };
  const auto per_column = [&](bool wish, std::vector<float>& to, std::int64_t offset, std::int64_t pieces) {
    gather(wish, to, offset + first_column, pieces, columns, key_rows);
  };
  const std::int64_t weights_at = layout.row_weights + first_close * heads * layout.row_weight_stride;
  if (sums_rows()) {
    gather_rows(gathers, request, {results + weights_at, heads, layout.row_weight_stride, key_rows}, out);
  } else {
    gather(request.row_weights && close > 0, out.row_weights, weights_at, close * heads,
           layout.row_weight_stride, key_rows);
  }
  const std::int64_t own_sets = request.sets();
  gather(request.row_mass && close > 0 && own_sets > 0, out.row_mass,
         layout.row_mass + first_close * heads * sets, close * heads, sets, own_sets);
  // Of all groups that were asked for; those without rows get zeros.
  const auto per_group = [&](bool wish, std::vector<float>& to, std::int64_t offset, std::int64_t stride,
                             std::int64_t count) {
    if (!wish || place_of_group.empty())
      return gather(wish, to, offset, request.groups * heads, stride, count);
    for (std::int64_t group = 0; group < request.groups; ++group) {
      const auto asked = static_cast<size_t>(group);
      const std::int64_t place = asked < place_of_group.size() ? place_of_group[asked] : -1;
      gathers.push_back({&to, place < 0 ? nullptr : results + offset + place * heads * stride, heads, stride,
                         count, request.groups * heads * count, group * heads * count});
    }
  };
  per_group(request.group_mass && request.received && own_sets > 0, out.group_mass,
            layout.group_mass + sequence * groups * heads * sets, sets, own_sets);
  if (!sums_rows())
    per_group(request.received, out.received, layout.received + first_column, columns, key_rows);
  per_column(request.follows(), out.followed, layout.followed, heads);
  per_row(request.entropy, out.entropy, layout.entropy);
  per_row(request.log_sum_exp, out.log_sum_exp, layout.log_sum_exp);
  per_row(request.first_share, out.first_share, layout.first_share);
  const std::int64_t part = heads * columns;
  const auto moments = [&](bool wish, probe::QkRecord& to, std::int64_t offset, std::int64_t unturned) {
    per_column(wish, to.dot, offset, heads);
    per_column(wish, to.cosine, offset + part, heads);
    per_column(wish, to.norm_product, unturned + 2 * part, heads);
    per_column(wish, to.self_dot, unturned + 3 * part, heads);
  };
  moments(request.qk_after, out.qk_after, layout.after, layout.after);
  moments(request.qk_before, out.qk_before, layout.before,
          layout.after == ObservationLayout::kAbsent ? layout.before : layout.after);
  per_row(request.norms, out.query_norm, layout.query_norm);
  per_column(request.norms, out.key_norm, layout.key_norm, kv_heads);
  per_column(request.value_norm, out.value_norm, layout.value_norm, kv_heads);
  per_row(request.head_norm, out.head_norm, layout.head_norm);
  per_column(request.previous_keys != nullptr, out.key_cosine, layout.key_cosine, kv_heads);
  per_column(request.previous_keys != nullptr, out.value_cosine, layout.value_cosine, kv_heads);
  const bool has_top = request.top > 0 && close > 0;
  const std::int64_t first_top = first_close * heads * top;
  gather(has_top, out.top_weights, layout.top_weights + first_top, close * heads, top, request.top);
  const probe::ResidualRequest& stream = request.residual;
  const auto of_stream = [&](bool wish, std::vector<float>& to, std::int64_t offset, std::int64_t width) {
    gather(wish && stream.any(), to, offset + first_stream * width, std::ssize(stream.rows), width, width);
  };
  of_stream(stream.pre, out.residual.pre, layout.pre, hidden);
  of_stream(stream.mid, out.residual.mid, layout.mid, hidden);
  of_stream(stream.reads_post(), out.residual.post, layout.post, hidden);
  of_stream(stream.head_out, out.residual.head_out, layout.head_out, heads * states.head_dim);
  of_stream(stream.gathers_attention_out(), out.residual.attention_out, layout.after_attention, hidden);
  of_stream(stream.gathers_mlp_out(), out.residual.mlp_out, layout.after_mlp, hidden);
  gather_all(gathers, context);
  out.top_keys.clear();
  if (has_top) {
    const auto* keys = reinterpret_cast<const std::int32_t*>(results + layout.top_keys);
    Gather<std::int32_t>{&out.top_keys, keys + first_top, close * heads,
                         top,           request.top,      close * heads * request.top}
        .run();
  }
  out.dense.clear();
  out.dense_mean.clear();
  finish(results, out.residual);
  fill_routing(results, out.routing);
}

// Layers without experts have -1 in their place, as on the CPU.
void RecordPlace::fill_routing(const float* results, probe::RoutingRecord& out) const {
  const std::int64_t count = request.routing ? states.query_rows : 0;
  const auto numbers = static_cast<size_t>(count * chosen_experts);
  out.experts.assign(numbers, -1);
  out.weights.assign(numbers, 0.0f);
  out.entropy.assign(chosen_experts > 0 ? static_cast<size_t>(count) : 0, 0.0f);
  out.load.assign(request.routing ? static_cast<size_t>(experts) : 0, 0);
  if (count == 0 || !is_mixture) return;
  const auto copy = [&](const auto* all, std::int64_t width, auto& to) {
    std::copy_n(all + first_row * width, count * width, to.begin());
  };
  copy(reinterpret_cast<const std::int32_t*>(results + layout.routed), chosen_experts, out.experts);
  copy(results + layout.routed_weights, chosen_experts, out.weights);
  copy(results + layout.router_entropy, 1, out.entropy);
  for (const auto expert : out.experts) ++out.load[static_cast<size_t>(expert)];
}

// What was gathered of the residual stream becomes what was asked for.
void RecordPlace::finish(const float* results, probe::ResidualRecord& out) const {
  // Emptied, not dropped: this memory is used again.
  for (auto* numbers :
       {&out.lens_probabilities, &out.attention_norm, &out.mlp_norm, &out.norm, &out.peak, &out.cosine})
    numbers->clear();
  out.lens_tokens.clear();
  out.peak_at.clear();
  out.on_device = {};
  const probe::ResidualRequest& wanted = request.residual;
  if (!wanted.any()) return;
  const std::int64_t rows_read = std::ssize(wanted.rows);
  // What a part of the layer adds is the stream behind it without the stream before it.
  const auto subtract = [&](std::vector<float>& from, std::int64_t before) {
    const float* less = results + before + first_stream * hidden;
    for (std::size_t i = 0; i < from.size(); ++i) from[i] -= less[i];
  };
  if (wanted.gathers_attention_out()) subtract(out.attention_out, layout.pre);
  if (wanted.gathers_mlp_out()) subtract(out.mlp_out, layout.mid);
  if (wanted.lens > 0) {
    const auto* tokens = reinterpret_cast<const std::int32_t*>(results + layout.lens_tokens);
    Gather<std::int32_t>{&out.lens_tokens, tokens + first_stream * lens, rows_read, lens,
                         wanted.lens,      rows_read * wanted.lens}
        .run();
    Gather<float>{&out.lens_probabilities,
                  results + layout.lens_probabilities + first_stream * lens,
                  rows_read,
                  lens,
                  wanted.lens,
                  rows_read * wanted.lens}
        .run();
  }
  finish_residual(wanted, address, hidden, out);
}

std::uint64_t RecordPlace::bytes() const {
  const std::int64_t H = states.heads, V = states.kv_heads, Q = states.query_rows, K = states.key_rows,
                     R = static_cast<std::int64_t>(request.rows.size());
  std::int64_t numbers = 0;
  numbers += request.received ? request.groups * H * K : 0;
  numbers += request.follows() ? H * K : 0;
  numbers += (request.entropy + request.log_sum_exp + request.first_share) * H * Q;
  numbers += request.row_weights ? R * H * K : 0;
  numbers += 2 * request.top * R * H;
  numbers += request.sets() * H * ((request.row_mass ? R : 0) + (request.group_mass ? request.groups : 0));
  numbers += 4 * (request.qk_after + request.qk_before) * H * K;
  numbers += request.norms ? H * Q + V * K : 0;
  numbers += request.value_norm ? V * K : 0;
  numbers += (request.head_norm ? H * Q : 0) + (request.previous_keys ? 2 * V * K : 0);
  if (const auto& r = request.residual; r.any()) {
    numbers += std::ssize(r.rows) * hidden *
               (r.pre + r.mid + r.gathers_post() + r.gathers_attention_out() + r.gathers_mlp_out());
    numbers += std::ssize(r.rows) * (2 * r.lens + (r.head_out ? H * states.head_dim : 0));
  }
  if (request.routing) numbers += Q * (2 * chosen_experts + 1) + experts;
  return static_cast<std::uint64_t>(numbers) * sizeof(float);
}

void DeviceRecord::fill(probe::LayerRecord& record) {
  buffer_->arrived->synchronize();
  place_.fill(buffer_->data(), record, nullptr);
  buffer_.reset();
}

RecordPlace DeviceObserver::place_of(const Slot& from, const LayerWants& wanted, size_t n) const {
  const auto& sequence = batch_->sequences[n];
  const ops::MaskKind mask = mask_kind(config_, batch_->sequences);
  return {wanted.observations[n].request,
          {sequence.rows(), key_rows_[n], sequence.past(), config_.heads, config_.kv_heads, config_.head_dim,
           mask != ops::MaskKind::kBidirectional,
           mask == ops::MaskKind::kPrefix ? sequence.prefix_length() : 0, nullptr, nullptr, nullptr},
          from.arriving,
          batch_->rows(),
          columns_are_keys() ? columns_ : key_rows_[0],
          batch_->first_rows[n],
          first_columns_[n],
          wanted.first_close[n],
          wanted.top,
          static_cast<std::int64_t>(n),
          wanted.groups,
          wanted.sets,
          config_.hidden,
          wanted.first_stream[n],
          wanted.stream.lens,
          wanted.observations[n].address,
          config_.experts ? config_.experts->count : 0,
          config_.experts ? config_.experts->chosen : 0,
          wanted.routing(),
          wanted.place_of_group};
}

void DeviceObserver::fill_record(const Context& context, const Slot& from, const LayerWants& wanted,
                                 size_t n) {
  const probe::LayerRequest& request = wanted.observations[n].request;
  place_of(from, wanted, n).fill(from.host->data(), record_, &context);
  if (request.states) {
    record_.states.queries = from.queries[n].data();
    record_.states.keys = from.keys[n].data();
    record_.states.values = from.values[n].data();
  }
  if (request.dense || request.dense_mean) form_dense(context, from, wanted, n);
  if (const auto& residual = request.residual; residual.any()) {
    const float* first = from.device.as<float>() + wanted.first_stream[n] * config_.hidden;
    const auto place = [&](bool wish, std::int64_t offset) { return wish ? first + offset : nullptr; };
    record_.residual.on_device = {place(residual.pre, from.layout.pre), place(residual.mid, from.layout.mid),
                                  place(residual.post, from.layout.post)};
  }
}

void DeviceObserver::form_dense(const Context& context, const Slot& from, const LayerWants& wanted,
                                size_t n) {
  const probe::LayerRequest& request = wanted.observations[n].request;
  const std::int64_t heads = config_.heads, query_rows = batch_->sequences[n].rows(), key_rows = key_rows_[n];
  // With the log-sum-exp as the row's top, the sum of its exponentials is 1.
  std::vector<float> tops, sums;
  const float* log_sums = from.host->data() + from.arriving.log_sum_exp + batch_->first_rows[n];
  Gather<float>{&tops, log_sums, heads, batch_->rows(), query_rows, heads * query_rows}.run();
  for (float& top : tops) {
    sums.push_back(std::isinf(top) ? 0.0f : 1.0f);
    if (std::isinf(top)) top = 0;
  }
  const auto bias = wanted.observations[n].change.key_bias;
  ops::AttentionSequence states{};
  states.queries = from.queries[n].data();
  states.query_rows = query_rows;
  states.first_position = batch_->sequences[n].past();
  states.keys = from.keys[n].data();
  states.values = from.values[n].data();
  states.key_rows = key_rows;
  states.key_bias = bias.empty() ? nullptr : bias.data();
  states.key_bias_stride = static_cast<std::int64_t>(bias.size()) > key_rows ? key_rows : 0;
  states.row_top = tops.data();
  states.row_sum = sums.data();
  const BlockGrid grid = grid_of(config_, batch_->sequences[n]);
  states.prefix = batch_->sequences[n].prefix_length();
  states.block = grid.block;
  states.grid_origin = grid.origin;
  states.before_grid = grid.before;
  if (request.dense) record_.dense.resize(static_cast<size_t>(heads * query_rows * key_rows));
  if (request.dense_mean) record_.dense_mean.resize(static_cast<size_t>(query_rows * key_rows));
  const ops::AttentionMask mask{mask_kind(config_, batch_->sequences), 0};
  ops::attention_probabilities(context, {heads, config_.kv_heads, config_.head_dim, mask}, states,
                               {request.dense ? record_.dense.data() : nullptr,
                                request.dense_mean ? record_.dense_mean.data() : nullptr});
}

// Records of all layers below `layer`, in their order.
void DeviceObserver::deliver_until(const Context& context, std::int64_t layer) {
  for (; delivered_ < layer; ++delivered_) {
    Slot& from = slot(delivered_);
    if (from.layer != delivered_) continue;
    from.host->arrived->synchronize();
    const LayerWants& wanted = wants(from.layer);
    for (size_t n = 0; n < wanted.observations.size(); ++n) {
      if (!wanted.observations[n].request.any()) continue;
      fill_record(context, from, wanted, n);
      probe_->take(wanted.observations[n].address, std::move(record_));
    }
    from.layer = -1;
    from.host.reset();
  }
}

}  // namespace buoy::model

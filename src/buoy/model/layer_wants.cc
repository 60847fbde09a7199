#include "buoy/model/layer_wants.h"

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/model/residual_stream.h"

namespace buoy::model {

LayerWants::LayerWants(const PackedBatch& batch, std::vector<LayerObservation> asked, std::int64_t chosen)
    : observations(std::move(asked)), chosen_experts(chosen) {
  bool grouped = false, last_rows = false;
  for (size_t n = 0; n < observations.size(); ++n) {
    const probe::LayerRequest& r = observations[n].request;
    const probe::Change& change = observations[n].change;
    received |= r.received;
    entropy |= r.entropy;
    log_sum_exp |= r.log_sum_exp || r.dense || r.dense_mean;
    first_share |= r.first_share;
    row_weights |= r.row_weights && !r.rows.empty();
    row_mass |= r.row_mass && !r.rows.empty() && r.sets() > 0;
    group_mass |= r.group_mass && r.received && r.sets() > 0;
    sets = std::max(sets, r.sets());
    key_sets.push_back(r.key_sets);
    qk_after |= r.qk_after;
    qk_before |= r.qk_before;
    norms |= r.norms;
    value_norm |= r.value_norm;
    head_norm |= r.head_norm;
    drift |= r.previous_keys != nullptr;
    dense |= r.dense || r.dense_mean;
    states |= r.states;
    biased |= !change.key_bias.empty();
    bias_per_head |= static_cast<std::int64_t>(change.key_bias.size()) > batch.sequences[n].key_rows();
    scaled |= !change.head_scale.empty();
    groups = std::max(groups, r.received ? r.groups : 1);
    grouped |= r.received && !r.group_of_row.empty();
    followed |= r.follows();
    last_rows |= r.followed == probe::FollowedRows::kLast;
    top = std::max(top, r.rows.empty() ? 0 : r.top);
    routing_asked |= r.routing;
    residual_changed |= change.changes_residual();
    first_stream.push_back(std::ssize(stream_rows));
    if (const auto& residual = r.residual; residual.any()) {
      stream.pre |= residual.pre || residual.gathers_attention_out();
      stream.after_attention |= residual.gathers_attention_out();
      stream.mid |= residual.mid || residual.gathers_mlp_out();
      stream.after_mlp |= residual.gathers_mlp_out();
      stream.post |= residual.reads_post();
      stream.head_out |= residual.head_out;
      stream.lens = std::max(stream.lens, residual.lens);
      BUOY_CHECK(are_rows_of(residual.rows, batch.sequences[n].rows()));
      for (const auto row : residual.rows)
        stream_rows.push_back(static_cast<std::int32_t>(batch.first_rows[n]) + row);
    }
    first_close.push_back(static_cast<std::int64_t>(close_rows.size()));
    if (!r.looks_closely()) continue;
    for (const auto row : r.rows) close_rows.push_back(static_cast<std::int32_t>(batch.first_rows[n]) + row);
  }
  if (top > 64) throw_usage_error({"top keys on the device", "at most 64", std::to_string(top)});
  if (rows_give_received(batch)) {
    received = grouped = false;
    groups = 1;
  }
  followed_apart = followed && (!received || grouped || groups > 1 || last_rows);
  for (size_t n = 0; n < observations.size() && followed_apart; ++n) {
    const auto rows = followed_groups(observations[n].request.followed, batch.sequences[n].rows());
    followed_group_of_row.insert(followed_group_of_row.end(), rows.begin(), rows.end());
  }
  if (grouped) group_rows(batch);
}

// So it is of few rows over a cache that are all looked at closely, where nothing else needs the sums.
bool LayerWants::rows_give_received(const PackedBatch& batch) const {
  if (!received || !row_weights || group_mass || followed || batch.rows() > kMostRowsSummed) return false;
  for (size_t n = 0; n < observations.size(); ++n) {
    const probe::LayerRequest& r = observations[n].request;
    if (batch.sequences[n].cache == nullptr) return false;
    if (!r.received) continue;
    if (!r.row_weights) return false;
    for (size_t row = 0; row < batch.sequences[n].tokens.size(); ++row) {
      const bool counts = r.group_of(row) < r.groups;
      if (counts && !std::ranges::binary_search(r.rows, static_cast<std::int32_t>(row))) return false;
    }
  }
  return true;
}

// Which group each row is in. Where rows are few, most groups have none.
void LayerWants::group_rows(const PackedBatch& batch) {
  for (size_t n = 0; n < observations.size(); ++n) {
    const probe::LayerRequest& r = observations[n].request;
    const auto rows = batch.sequences[n].tokens.size();
    if (!r.received) {
      group_of_row.insert(group_of_row.end(), rows, probe::kNoGroup);
    } else if (r.group_of_row.empty()) {
      group_of_row.insert(group_of_row.end(), rows, 0);
    } else {
      group_of_row.insert(group_of_row.end(), r.group_of_row.begin(), r.group_of_row.end());
    }
  }
  std::vector<std::int32_t> places(static_cast<size_t>(groups), -1);
  for (const std::uint8_t group : group_of_row) {
    if (group < places.size()) places[group] = 0;
  }
  std::int32_t held = 0;
  for (std::int32_t& place : places) {
    if (place == 0) place = held++;
  }
  if (held == groups) return;
  for (std::uint8_t& group : group_of_row) {
    const std::int32_t place = group < places.size() ? places[group] : -1;
    group = place < 0 ? probe::kNoGroup : static_cast<std::uint8_t>(place);
  }
  groups = std::max(held, 1);
  place_of_group = std::move(places);
}

void LayerWants::append_shape(std::vector<std::int64_t>& shape) const {
  std::int64_t flags = 0;
  for (const bool flag : {received,   entropy,          log_sum_exp, first_share,     row_weights,
                          row_mass,   group_mass,       qk_after,    qk_before,       norms,
                          value_norm, head_norm,        drift,       stream.pre,      stream.after_attention,
                          stream.mid, stream.after_mlp, stream.post, stream.head_out, routing()})
    flags = 2 * flags + (flag ? 1 : 0);
  shape.insert(shape.end(),
               {flags, groups, top, sets, std::ssize(close_rows), stream.lens, std::ssize(stream_rows)});
  shape.insert(shape.end(), first_close.begin(), first_close.end());
}

ObservationLayout::ObservationLayout(const ModelConfig& c, const LayerWants& wants, std::int64_t rows,
                                     std::int64_t columns, std::int64_t longest_keys,
                                     std::int64_t column_step) {
  const auto take_in_steps = [this](bool wanted, std::int64_t pieces, std::int64_t width, std::int64_t step) {
    if (!wanted) return kAbsent;
    const std::int64_t at = size;
    size += rounded_up(pieces * width, step);
    sections.push_back({at, pieces, width});
    return at;
  };
  const auto take = [&](bool wanted, std::int64_t pieces, std::int64_t width) {
    return take_in_steps(wanted, pieces, width, kStep);
  };
  const auto close = static_cast<std::int64_t>(wants.close_rows.size());
  row_weight_stride = rounded_up(longest_keys, 4);
  entropy = take(wants.entropy, c.heads, rows);
  log_sum_exp = take(wants.log_sum_exp, c.heads, rows);
  first_share = take(wants.first_share, c.heads, rows);
  top_keys = take(wants.top > 0, close * c.heads, wants.top);
  top_weights = take(wants.top > 0, close * c.heads, wants.top);
  row_mass = take(wants.row_mass, close * c.heads, wants.sets);
  group_mass = take(wants.group_mass, std::ssize(wants.observations) * wants.groups * c.heads, wants.sets);
  query_norm = take(wants.norms, c.heads, rows);
  head_norm = take(wants.head_norm, c.heads, rows);
  const auto read = static_cast<std::int64_t>(wants.stream_rows.size());
  pre = take(wants.stream.pre, read, c.hidden);
  after_attention = take(wants.stream.after_attention, read, c.hidden);
  mid = take(wants.stream.mid, read, c.hidden);
  after_mlp = take(wants.stream.after_mlp, read, c.hidden);
  post = take(wants.stream.post, read, c.hidden);
  head_out = take(wants.stream.head_out, read, c.heads * c.head_dim);
  lens_tokens = take(wants.stream.lens > 0, read, wants.stream.lens);
  lens_probabilities = take(wants.stream.lens > 0, read, wants.stream.lens);
  routed = take(wants.routing(), rows, wants.chosen_experts);
  routed_weights = take(wants.routing(), rows, wants.chosen_experts);
  router_entropy = take(wants.routing(), rows, 1);
  const auto take_columns = [&](bool wanted, std::int64_t pieces, std::int64_t width) {
    return take_in_steps(wanted, pieces, width, column_step);
  };
  received = take_columns(wants.received, wants.groups * c.heads, columns);
  followed = wants.followed && !wants.followed_apart ? received
                                                     : take_columns(wants.followed_apart, c.heads, columns);
  after = take_columns(wants.qk_after, 4 * c.heads, columns);
  // What a rotation leaves as it is comes once: lengths, and products of rows of one position.
  before = take_columns(wants.qk_before, (wants.qk_after ? 2 : 4) * c.heads, columns);
  key_norm = take_columns(wants.norms, c.kv_heads, columns);
  value_norm = take_columns(wants.value_norm, c.kv_heads, columns);
  key_cosine = take_columns(wants.drift, c.kv_heads, columns);
  value_cosine = take_columns(wants.drift, c.kv_heads, columns);
  // Last: the strongest keys and sums are found in the whole rows, but those leave the card only when asked
  // for.
  copied = size;
  row_weights = take_columns(close > 0, close * c.heads, row_weight_stride);
  if (wants.row_weights) copied = size;
}

}  // namespace buoy::model

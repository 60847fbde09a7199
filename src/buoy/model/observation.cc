#include "buoy/model/observation.h"

#include "buoy/ops/attention/attention_statistics.h"
#include "buoy/ops/attention/set_masses.h"
#include "buoy/ops/moments/head_states.h"
#include "buoy/ops/moments/qk_moments.h"

namespace buoy::model {
namespace {

float* sized(std::vector<float>& values, bool wanted, std::int64_t count) {
  if (!wanted) return nullptr;
  values.resize(static_cast<size_t>(count));
  return values.data();
}

void measure_weights(const Context& context, const ops::AttentionShape& shape,
                     const ops::AttentionSequence& s, const probe::LayerRequest& request,
                     probe::LayerRecord& record) {
  const std::int64_t per_row = shape.heads * s.query_rows,
                     close = static_cast<std::int64_t>(request.rows.size());
  ops::AttentionStatistics wanted;
  wanted.groups = request.groups;
  wanted.group_of_row = request.group_of_row.empty() ? nullptr : request.group_of_row.data();
  wanted.received = sized(record.received, request.received, request.groups * shape.heads * s.key_rows);
  wanted.entropy = sized(record.entropy, request.entropy, per_row);
  wanted.log_sum_exp = sized(record.log_sum_exp, request.log_sum_exp, per_row);
  wanted.first_share = sized(record.first_share, request.first_share, per_row);
  wanted.rows = request.rows;
  std::vector<float> summed;  // rows that are only summed over sets
  wanted.row_weights = sized(request.row_weights ? record.row_weights : summed,
                             request.row_weights || request.row_mass, close * shape.heads * s.key_rows);
  wanted.top = request.top;
  record.top_keys.resize(static_cast<size_t>(close * shape.heads * request.top));
  wanted.top_keys = record.top_keys.data();
  wanted.top_weights = sized(record.top_weights, request.top > 0, close * shape.heads * request.top);
  ops::attention_statistics(context, shape, s, wanted);
  if (request.sets() == 0) return;
  if (request.row_mass && close > 0) {
    sized(record.row_mass, true, close * shape.heads * request.sets());
    ops::set_masses(context, request.row_weights ? record.row_weights : summed, s.key_rows, *request.key_sets,
                    record.row_mass);
  }
  if (request.group_mass && request.received) {
    sized(record.group_mass, true, request.groups * shape.heads * request.sets());
    ops::set_masses(context, record.received, s.key_rows, *request.key_sets, record.group_mass);
  }
}

// One row weighs what it receives; sums of all rows do not depend on how an observer groups them.
void measure_followed(const Context& context, const ops::AttentionShape& shape,
                      const ops::AttentionSequence& s, const probe::LayerRequest& request,
                      probe::LayerRecord& record) {
  if (request.follows_received()) {
    record.followed = record.received;
    return;
  }
  const auto groups = followed_groups(request.followed, s.query_rows);
  ops::AttentionStatistics wanted;
  wanted.group_of_row = groups.data();
  wanted.received = sized(record.followed, true, shape.heads * s.key_rows);
  ops::attention_statistics(context, shape, s, wanted);
}

void measure_moments(const Context& context, const ops::AttentionShape& shape,
                     const ops::AttentionSequence& s, probe::QkRecord& record, ops::QkMoments norms) {
  const std::int64_t columns = shape.heads * s.key_rows;
  norms.dot = sized(record.dot, true, columns);
  norms.cosine = sized(record.cosine, true, columns);
  norms.norm_product = sized(record.norm_product, true, columns);
  norms.self_dot = sized(record.self_dot, true, columns);
  ops::qk_moments(context, shape, s, norms);
}

void measure_drift(const Context& context, const ops::AttentionShape& shape, const ops::AttentionSequence& s,
                   const LayerObservation& observation, probe::LayerRecord& record) {
  auto& before =
      observation.request.previous_keys->of_layer.at(static_cast<size_t>(observation.address.layer));
  const std::int64_t known = before.advance(observation.address.step, s.key_rows);
  const auto drift = [&](const float* now, std::vector<float>& then, std::vector<float>& cosines) {
    then.resize(static_cast<size_t>(s.key_rows * shape.kv_heads * shape.head_dim));
    ops::head_drift(context, {{now, s.key_rows, shape.kv_heads, shape.head_dim},
                              then.data(),
                              known,
                              sized(cosines, true, shape.kv_heads * s.key_rows)});
  };
  drift(s.keys, before.keys, record.key_cosine);
  drift(s.values, before.values, record.value_cosine);
}

}  // namespace

std::vector<std::uint8_t> followed_groups(probe::FollowedRows followed, std::int64_t rows) {
  std::vector<std::uint8_t> groups(static_cast<size_t>(rows),
                                   followed == probe::FollowedRows::kAll ? 0 : probe::kNoGroup);
  if (followed == probe::FollowedRows::kLast && rows > 0) groups.back() = 0;
  return groups;
}

std::vector<LayerObservation> ask(std::int64_t heads, std::int64_t layer,
                                  std::span<const SequenceInput> sequences, probe::Probe& probe) {
  std::vector<LayerObservation> observations;
  for (const auto& sequence : sequences) {
    const probe::LayerExtent extent{sequence.rows(), sequence.key_rows(), heads, sequence.tokens};
    LayerObservation observation;
    observation.address = sequence.address;
    observation.address.layer = layer;
    observation.request = probe.request(observation.address, extent);
    observation.change = probe.change(observation.address, extent);
    observations.push_back(std::move(observation));
  }
  return observations;
}

probe::LayerRecord measure(const Context& context, const ops::AttentionShape& shape,
                           const ops::AttentionSequence& s, const LayerObservation& observation) {
  const probe::LayerRequest& request = observation.request;
  probe::LayerRecord record;
  record.states = {s.query_rows,
                   s.key_rows,
                   s.first_position,
                   shape.heads,
                   shape.kv_heads,
                   shape.head_dim,
                   shape.mask.kind != ops::MaskKind::kBidirectional,
                   shape.mask.kind == ops::MaskKind::kPrefix ? s.prefix : 0,
                   nullptr,
                   nullptr,
                   nullptr};
  if (request.states) {
    record.states.queries = s.queries;
    record.states.keys = s.keys;
    record.states.values = s.values;
  }
  if (request.weighs()) measure_weights(context, shape, s, request, record);
  if (request.follows()) measure_followed(context, shape, s, request, record);
  if (request.needs_moments()) {
    ops::QkMoments norms;
    norms.query_norm = sized(record.query_norm, request.norms, shape.heads * s.query_rows);
    norms.key_norm = sized(record.key_norm, request.norms, shape.kv_heads * s.key_rows);
    norms.value_norm = sized(record.value_norm, request.value_norm, shape.kv_heads * s.key_rows);
    if (request.qk_after) {
      measure_moments(context, shape, s, record.qk_after, norms);
    } else if (request.norms || request.value_norm) {
      ops::qk_moments(context, shape, s, norms);
    }
  }
  if (request.qk_before) {
    ops::AttentionSequence before = s;
    before.queries = observation.unrotated_queries.data();
    before.keys = observation.unrotated_keys.data();
    measure_moments(context, shape, before, record.qk_before, {});
  }
  if (request.head_norm) {
    ops::head_norms(context, {s.output, s.query_rows, shape.heads, shape.head_dim},
                    sized(record.head_norm, true, shape.heads * s.query_rows));
  }
  if (request.previous_keys) measure_drift(context, shape, s, observation, record);
  if (request.dense || request.dense_mean) {
    const std::int64_t pairs = s.query_rows * s.key_rows;
    ops::attention_probabilities(context, shape, s,
                                 {sized(record.dense, request.dense, shape.heads * pairs),
                                  sized(record.dense_mean, request.dense_mean, pairs)});
  }
  return record;
}

}  // namespace buoy::model

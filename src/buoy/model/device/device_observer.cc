#include "buoy/model/device/device_observer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "buoy/base/error.h"
#include "buoy/model/device/head_order.h"
#include "buoy/ops/moments/qk_moments_cuda.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"

namespace buoy::model {
namespace {

float* at(void* base, std::int64_t offset) {
  return offset == ObservationLayout::kAbsent ? nullptr : static_cast<float*>(base) + offset;
}

}  // namespace

void DeviceObserver::start(const PackedBatch& batch, probe::Probe* probe, std::int64_t key_step) {
  wants_.clear();
  delivered_ = 0;
  for (Slot& slot : slots_) {
    if (slot.layer >= 0) copies_.synchronize();  // left over when a probe threw
    slot.layer = -1;
    slot.host.reset();
  }
  measuring_now_ = false;
  waiting_.clear();
  probe_ = probe;
  batch_ = &batch;
  if (probe == nullptr) return;
  key_rows_.clear();
  first_columns_.clear();
  columns_ = longest_keys_ = 0;
  for (const auto& sequence : batch.sequences) {
    key_rows_.push_back(sequence.key_rows());
    first_columns_.push_back(columns_);
    const std::int64_t columns = rounded_up(key_rows_.back(), key_step);
    columns_ += columns;
    longest_keys_ = std::max(longest_keys_, columns);
  }
  for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
    ask_next_layer();
    if (wants_.back().any() || wants_.back().changes()) {
      choose_layers_at_once();
      return;
    }
  }
  wants_.clear();
}

// Few graphs and long stretches without the host where results are small; memory counts where they are not.
void DeviceObserver::choose_layers_at_once() {
  constexpr std::int64_t kMostBytes = std::int64_t{384} << 20, kUsual = 8;
  const ObservationLayout layout(config_, wants_.back(), batch_->rows(), columns_, longest_keys_);
  layers_at_once_ = batch_->rows() <= kMostRowsThatWait ? kMostAtOnce : kUsual;
  while (layers_at_once_ > 1 && buffers() * layout.size * std::int64_t{sizeof(float)} > kMostBytes)
    layers_at_once_ /= 2;
}

void DeviceObserver::ask_next_layer() {
  const auto layer = static_cast<std::int64_t>(wants_.size());
  wants_.emplace_back(*batch_, ask(config_.heads, layer, batch_->sequences, *probe_),
                      is_mixture(config_, layer) ? config_.experts->chosen : 0);
}

const LayerWants& DeviceObserver::wants(std::int64_t layer) {
  while (static_cast<std::int64_t>(wants_.size()) <= layer) ask_next_layer();
  return wants_[static_cast<size_t>(layer)];
}

bool DeviceObserver::in_plan(const LayerWants& wanted) const {
  return planned_ && planned_->groups == wanted.groups && planned_->group_of_row == wanted.group_of_row &&
         planned_->close_rows == wanted.close_rows && planned_->key_sets == wanted.key_sets;
}

bool DeviceObserver::recordable(std::int64_t layer) {
  // Where the step before lies on the card differs from sample to sample.
  return !wants(layer).changes() && !wants(layer).host_states() && !wants(layer).followed_apart &&
         !wants(layer).drift;
}

bool DeviceObserver::joins_previous(std::int64_t layer) {
  return recordable(layer) && (!wants(layer).statistics() || in_plan(wants(layer))) &&
         streams_in_place(wants(layer)) && waits(layer) == waits(layer - 1);
}

bool DeviceObserver::waits(std::int64_t layer) {
  const auto cached = [](const SequenceInput& input) { return input.cache != nullptr; };
  return batch_->rows() <= kMostRowsThatWait && std::ranges::all_of(batch_->sequences, cached) &&
         (wants(layer).statistics() || wants(layer).moments()) && recordable(layer);
}

void DeviceObserver::upload_changes(const Stream& stream, const LayerWants& wants) {
  if (wants.biased) {
    const std::int64_t heads = wants.bias_per_head ? config_.heads : 1;
    std::vector<float> bias(static_cast<size_t>(heads * columns_), 0.0f);
    for (size_t n = 0; n < wants.observations.size(); ++n) {
      const auto given = wants.observations[n].change.key_bias;
      if (given.empty()) continue;
      const auto keys = static_cast<size_t>(key_rows_[n]);
      BUOY_CHECK(given.size() == keys || given.size() == static_cast<size_t>(config_.heads) * keys);
      for (std::int64_t head = 0; head < heads; ++head) {
        const float* from = given.data() + (given.size() == keys ? 0 : static_cast<size_t>(head) * keys);
        std::copy(from, from + keys, bias.begin() + head * columns_ + first_columns_[n]);
      }
    }
    copy_to_device(stream, bias_.reserve(bias.size() * sizeof(float)), bias.data(),
                   bias.size() * sizeof(float));
  }
  if (wants.scaled) {
    const auto heads = static_cast<size_t>(config_.heads);
    std::vector<float> factors(wants.observations.size() * heads, 1.0f);
    for (size_t n = 0; n < wants.observations.size(); ++n) {
      const auto given = wants.observations[n].change.head_scale;
      BUOY_CHECK(given.empty() || given.size() == heads);
      std::copy(given.begin(), given.end(), factors.begin() + static_cast<std::ptrdiff_t>(n * heads));
    }
    copy_to_device(stream, scale_.reserve(factors.size() * sizeof(float)), factors.data(),
                   factors.size() * sizeof(float));
  }
  if (wants.residual_changed) upload_residual_changes(stream, wants);
}

bool DeviceObserver::prepare(const Context& context, const Stream& stream, std::int64_t layer,
                             ops::AttentionPlan& plan) {
  const LayerWants& wanted = wants(layer);
  upload_changes(stream, wanted);
  deliver_until(context, layer - buffers() + 1);
  if (!wanted.any()) return false;
  Slot& here = slot(layer);
  here.layer = layer;
  here.layout = ObservationLayout(config_, wanted, batch_->rows(), columns_, longest_keys_);
  const void* before = here.device.data();
  here.arriving = columns_are_keys()
                      ? here.layout
                      : ObservationLayout(config_, wanted, batch_->rows(), key_rows_[0], key_rows_[0], 1);
  here.device.reserve(static_cast<size_t>(here.layout.size) * sizeof(float));
  if (here.copied) here.copied->hold(stream);  // what was in it before
  bool moved = wanted.reads_residual() && prepare_residual(stream, wanted);
  if (wanted.statistics() && !in_plan(wanted)) {
    // Of what changes from step to step only the groups do, as a rule.
    const bool same_groups = planned_ && planned_->groups == wanted.groups &&
                             planned_->group_of_row == wanted.group_of_row,
               same_rows = planned_ && planned_->close_rows == wanted.close_rows;
    if (!same_groups) plan.set_groups(wanted.group_of_row, wanted.groups, stream);
    if (!same_rows) plan.set_close_rows(wanted.close_rows, stream);
    if (wanted.sets > 0 && !(same_rows && planned_->key_sets == wanted.key_sets))
      moved |= key_sets_.set(
          {wanted.key_sets, first_columns_, wanted.first_close, std::ssize(wanted.close_rows)}, stream);
    planned_ = {wanted.groups, wanted.group_of_row, wanted.close_rows, wanted.key_sets};
  }
  return moved || here.device.data() != before;
}

void DeviceObserver::attach(std::int64_t layer, DeviceStates& states, ops::DeviceAttentionOutputs& outputs) {
  const LayerWants& wanted = wants(layer);
  ops::DeviceAttentionInputs& inputs = states.rotated;
  if (wanted.biased) {
    inputs.key_bias = bias_.as<float>();
    inputs.key_bias_per_head = wanted.bias_per_head;
  }
  if (wanted.scaled && wanted.observations.size() == 1) inputs.head_scale = scale_.as<float>();
  if (!wanted.any()) return;
  const Slot& here = slot(layer);
  outputs.entropy = at(here.device.data(), here.layout.entropy);
  outputs.log_sum_exp = at(here.device.data(), here.layout.log_sum_exp);
  if (!wanted.moments()) return;
  moments_ = moments_of(layer, states);
  if (wanted.received || wanted.first_share) outputs.moments = &moments_;
}

ops::DeviceQkColumns DeviceObserver::columns_at(float* first) const {
  const std::int64_t part = config_.heads * columns_;
  return {first, first + part, first + 2 * part, first + 3 * part};
}

ops::DeviceQkMoments DeviceObserver::moments_of(std::int64_t layer, const DeviceStates& states) {
  const LayerWants& wanted = wants(layer);
  void* base = slot(layer).device.data();
  const ObservationLayout& layout = slot(layer).layout;
  ops::DeviceQkMoments moments;
  moments.inputs = states.rotated;
  if (wanted.qk_after) moments.after = columns_at(at(base, layout.after));
  if (wanted.qk_before) {
    moments.before = columns_at(at(base, layout.before));
    if (wanted.qk_after) moments.before.norm_product = moments.before.self_dot = nullptr;
    moments.rope = states.rope;
  }
  moments.query_norm = at(base, layout.query_norm);
  moments.key_norm = at(base, layout.key_norm);
  moments.value_norm = at(base, layout.value_norm);
  return moments;
}

void DeviceObserver::measure(const Stream& stream, std::int64_t layer, ops::AttentionPlan& plan,
                             const DeviceStates& states, std::uint16_t* attended) {
  const LayerWants& wanted = wants(layer);
  if (wanted.scaled && wanted.observations.size() > 1) {
    const std::int64_t width = config_.heads * config_.head_dim;
    for (size_t n = 0; n < wanted.observations.size(); ++n) {
      ops::scale_heads_cuda(
          stream, {attended + batch_->first_rows[n] * width, batch_->sequences[n].rows(), config_.heads,
                   config_.head_dim, scale_.as<float>() + static_cast<std::int64_t>(n) * config_.heads});
    }
  }
  if (!wanted.any()) return;
  if (wanted.host_states()) fetch_states(stream, slot(layer), wanted, states);
  const bool attention = wanted.statistics() || wanted.moments(), waits_here = waits(layer);
  if (waits_here) waiting_.push_back({layer, states});
  // What attention itself wrote, and the residual stream, need no second stream to wait for.
  if ((!attention || waits_here) && !wanted.head_states() && !wanted.followed_apart) return;
  attended_.record(stream);
  attended_.hold(measuring_);
  if (attention && !waits_here) measure_attention(measuring_, layer, plan, states);
  if (wanted.head_states()) measure_heads(layer, states, attended);
  if (wanted.followed_apart)
    measure_followed(wanted, at(slot(layer).device.data(), slot(layer).layout.followed), states, plan);
  measured_.record(measuring_);
  measuring_now_ = true;
}

DeviceObserver::Measured DeviceObserver::statistics_of(std::int64_t layer, const DeviceStates& states) {
  const LayerWants& wanted = wants(layer);
  const ObservationLayout& layout = slot(layer).layout;
  void* base = slot(layer).device.data();
  Measured out;
  if (wanted.moments()) out.moments = moments_of(layer, states);
  out.statistics.received = at(base, layout.received);
  out.statistics.first_share = at(base, layout.first_share);
  out.statistics.row_weights = at(base, layout.row_weights);
  out.statistics.row_weight_stride = layout.row_weight_stride;
  out.statistics.top = wanted.top;
  out.statistics.top_keys = reinterpret_cast<std::int32_t*>(at(base, layout.top_keys));
  out.statistics.top_weights = at(base, layout.top_weights);
  return out;
}

void DeviceObserver::measure_masses(const Stream& stream, std::int64_t layer) {
  const LayerWants& wanted = wants(layer);
  const ObservationLayout& layout = slot(layer).layout;
  void* base = slot(layer).device.data();
  if (!wanted.row_mass && !wanted.group_mass) return;
  ops::set_masses_cuda(key_sets_,
                       {config_.heads, at(base, layout.row_weights), layout.row_weight_stride,
                        std::ssize(wanted.close_rows), at(base, layout.row_mass), at(base, layout.received),
                        wanted.groups, columns_, at(base, layout.group_mass)},
                       stream);
}

void DeviceObserver::measure_attention(const Stream& stream, std::int64_t layer, ops::AttentionPlan& plan,
                                       const DeviceStates& states) {
  Measured measured = statistics_of(layer, states);
  if (wants(layer).moments()) measured.statistics.moments = &measured.moments;
  ops::attention_statistics_cuda(plan, states.rotated, measured.statistics, stream);
  measure_masses(stream, layer);
}

void DeviceObserver::measure_waiting(const Stream& stream, ops::AttentionPlan& plan) {
  if (waiting_.empty()) return;
  std::vector<Measured> measured;
  std::vector<ops::DeviceLayerToMeasure> layers;
  for (const Waiting& one : waiting_) measured.push_back(statistics_of(one.layer, one.states));
  for (size_t lane = 0; lane < waiting_.size(); ++lane) {
    layers.push_back(
        {static_cast<std::int64_t>(lane), waiting_[lane].states.rotated, measured[lane].statistics});
    if (wants(waiting_[lane].layer).moments()) layers.back().wanted.moments = &measured[lane].moments;
  }
  ops::attention_statistics_cuda(plan, layers, stream);
  for (const Waiting& one : waiting_) measure_masses(stream, one.layer);
  waiting_.clear();
}

// By groups of its own, for a moment: observers find theirs in the plan.
void DeviceObserver::measure_followed(const LayerWants& wanted, float* received, const DeviceStates& states,
                                      ops::AttentionPlan& plan) {
  plan.set_groups(wanted.followed_group_of_row, 1, measuring_);
  ops::DeviceAttentionStatistics statistics;
  statistics.received = received;
  ops::attention_statistics_cuda(plan, states.rotated, statistics, measuring_);
  if (planned_) {
    plan.set_groups(planned_->group_of_row, planned_->groups, measuring_);
  } else {
    plan.set_groups({}, 1, measuring_);
  }
}

void DeviceObserver::wait_measured(const Stream& stream) {
  if (measuring_now_) measured_.hold(stream);
  measuring_now_ = false;
}

// A slow path: whole states leave the card, widened.
void DeviceObserver::fetch_states(const Stream& stream, Slot& here, const LayerWants& wanted,
                                  const DeviceStates& states) {
  const auto fetch = [&](const std::uint16_t* from, std::int64_t rows, std::int64_t width,
                         std::int64_t stride) {
    std::vector<float> out(static_cast<size_t>(rows * width));
    float* widened = static_cast<float*>(widened_.reserve(out.size() * sizeof(float)));
    ops::widen_cuda(stream, {from, rows, width, stride, widened});
    copy_to_host(stream, out.data(), widened, out.size() * sizeof(float));
    stream.synchronize();
    return out;
  };
  const ops::DeviceAttentionInputs& s = states.rotated;
  const std::int64_t query_width = config_.heads * config_.head_dim,
                     key_width = config_.kv_heads * config_.head_dim;
  const size_t count = wanted.observations.size();
  here.queries.assign(count, {});
  here.keys.assign(count, {});
  here.values.assign(count, {});
  for (size_t n = 0; n < count; ++n) {
    const probe::LayerRequest& request = wanted.observations[n].request;
    if (!request.states && !request.dense && !request.dense_mean) continue;
    const auto& sequence = batch_->sequences[n];
    const std::int64_t first_key =
        sequence.cache != nullptr ? sequence.cache->first_pool_row() : batch_->first_rows[n];
    const auto order = device_head_order(config_);
    here.queries[n] = fetch(s.queries + batch_->first_rows[n] * s.query_stride, sequence.rows(), query_width,
                            s.query_stride);
    here.keys[n] = fetch(s.keys + first_key * s.key_stride, key_rows_[n], key_width, s.key_stride);
    restore_head_order(here.queries[n], order);
    restore_head_order(here.keys[n], order);
    here.values[n] = fetch(s.values + first_key * s.value_stride, key_rows_[n], key_width, s.value_stride);
  }
}

void DeviceObserver::finish(const Context& context) {
  deliver_until(context, config_.layers);
  wants_.clear();
}

std::uint64_t DeviceObserver::device_bytes() const {
  std::uint64_t bytes = bias_.bytes() + scale_.bytes() + widened_.bytes() + key_sets_.bytes();
  for (const DeviceMemory* memory :
       {&stream_rows_, &change_rows_, &change_values_, &mlp_scale_, &lens_normed_, &lens_logits_})
    bytes += memory->bytes();
  for (const Slot& one : slots_) bytes += one.device.bytes();
  return bytes;
}

}  // namespace buoy::model

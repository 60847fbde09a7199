#include "model/device_observer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "ops/elementwise_cuda.h"
#include "ops/qk_moments_cuda.h"

namespace buoy::model {
namespace {

float* at(void* base, std::int64_t offset) {
  return offset == ObservationLayout::kAbsent ? nullptr : static_cast<float*>(base) + offset;
}

void set_moments(const ModelConfig& c, float* base, std::int64_t columns, ops::CudaQkMoments& set) {
  const std::int64_t part = c.heads * columns;
  set.dot = base;
  set.cosine = base + part;
  set.norm_product = base + 2 * part;
  set.self_dot = base + 3 * part;
}

}  // namespace

void DeviceObserver::start(const PackedBatch& batch, probe::Probe* probe) {
  wants_.clear();
  in_plan_ = nullptr;
  for (Slot& slot : slots_) slot.layer = -1;  // left over when a probe threw
  probe_ = probe;
  batch_ = &batch;
  if (probe == nullptr) return;
  key_rows_.clear();
  first_columns_.clear();
  columns_ = longest_keys_ = 0;
  for (const auto& sequence : batch.sequences) {
    key_rows_.push_back(sequence.past() + sequence.rows());
    first_columns_.push_back(columns_);
    columns_ += key_rows_.back();
    longest_keys_ = std::max(longest_keys_, key_rows_.back());
  }
  wants_.reserve(static_cast<size_t>(config_.layers));  // the plan remembers whose groups it holds
  for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
    ask_next_layer();
    if (wants_.back().any() || wants_.back().biased || wants_.back().scaled) return;
  }
  wants_.clear();
}

void DeviceObserver::ask_next_layer() {
  const auto layer = static_cast<std::int64_t>(wants_.size());
  wants_.emplace_back(*batch_, ask(config_.heads, layer, batch_->sequences, *probe_));
}

const LayerWants& DeviceObserver::wants(std::int64_t layer) {
  while (static_cast<std::int64_t>(wants_.size()) <= layer) ask_next_layer();
  return wants_[static_cast<size_t>(layer)];
}

void DeviceObserver::upload_interventions(const Stream& stream, const LayerWants& wants,
                                          ops::CudaAttentionInputs& inputs) {
  if (wants.biased) {
    const std::int64_t heads = wants.bias_per_head ? config_.heads : 1;
    std::vector<float> bias(static_cast<size_t>(heads * columns_), 0.0f);
    for (size_t n = 0; n < wants.observations.size(); ++n) {
      const auto given = wants.observations[n].intervention.key_bias;
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
    inputs.key_bias = bias_.as<float>();
    inputs.key_bias_per_head = wants.bias_per_head;
  }
  if (wants.scaled) {
    const auto heads = static_cast<size_t>(config_.heads);
    std::vector<float> factors(wants.observations.size() * heads, 1.0f);
    for (size_t n = 0; n < wants.observations.size(); ++n) {
      const auto given = wants.observations[n].intervention.head_scale;
      BUOY_CHECK(given.empty() || given.size() == heads);
      std::copy(given.begin(), given.end(), factors.begin() + static_cast<std::ptrdiff_t>(n * heads));
    }
    copy_to_device(stream, scale_.reserve(factors.size() * sizeof(float)), factors.data(),
                   factors.size() * sizeof(float));
    if (wants.observations.size() == 1) inputs.head_scale = scale_.as<float>();
  }
}

void DeviceObserver::begin_layer(const Context& context, const Stream& stream, std::int64_t layer,
                                 ops::AttentionPlan& plan, ops::CudaAttentionInputs& inputs,
                                 ops::CudaAttentionOutputs& outputs) {
  const LayerWants& wanted = wants(layer);
  upload_interventions(stream, wanted, inputs);
  if (!wanted.any()) return;
  turn_ = (turn_ + 1) % kSlots;
  Slot& here = slots_[turn_];
  if (here.layer >= 0) deliver(context, here);
  here.layer = layer;
  here.layout = ObservationLayout(config_, wanted, batch_->rows(), columns_, longest_keys_);
  here.device.reserve(static_cast<size_t>(here.layout.size) * sizeof(float));
  here.host.reserve(static_cast<size_t>(here.layout.copied) * sizeof(float));
  outputs.entropy = at(here.device.data(), here.layout.entropy);
  outputs.log_sum_exp = at(here.device.data(), here.layout.log_sum_exp);
  if (!wanted.statistics()) return;
  const bool known = in_plan_ != nullptr && in_plan_->groups == wanted.groups &&
                     in_plan_->group_of_row == wanted.group_of_row &&
                     in_plan_->close_rows == wanted.close_rows;
  if (known) return;
  plan.set_groups(wanted.group_of_row, wanted.groups, stream);
  plan.set_close_rows(wanted.close_rows, stream);
  in_plan_ = &wanted;
}

void DeviceObserver::end_layer(const Stream& stream, std::int64_t layer, ops::AttentionPlan& plan,
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
  Slot& here = slots_[turn_];
  const ObservationLayout& layout = here.layout;
  void* base = here.device.data();
  attended_.record(stream);
  attended_.hold(measuring_);
  if (wanted.statistics()) {
    ops::CudaAttentionStatistics statistics;
    statistics.received = at(base, layout.received);
    statistics.first_share = at(base, layout.first_share);
    statistics.row_weights = at(base, layout.row_weights);
    statistics.row_weight_stride = layout.row_weight_stride;
    statistics.top = wanted.top;
    statistics.top_keys = reinterpret_cast<std::int32_t*>(at(base, layout.top_keys));
    statistics.top_weights = at(base, layout.top_weights);
    ops::attention_statistics_cuda(plan, states.rotated, statistics, measuring_);
  }
  if (wanted.moments()) {
    std::vector<ops::CudaQkMoments> sets;
    if (wanted.qk_after || wanted.norms) {
      ops::CudaQkMoments& set = sets.emplace_back();
      set.inputs = states.rotated;
      if (wanted.qk_after) set_moments(config_, at(base, layout.after), columns_, set);
      set.query_norm = at(base, layout.query_norm);
      set.key_norm = at(base, layout.key_norm);
      set.value_norm = at(base, layout.value_norm);
    }
    if (wanted.qk_before) {
      ops::CudaQkMoments& set = sets.emplace_back();
      set.inputs = states.unrotated;
      set_moments(config_, at(base, layout.before), columns_, set);
    }
    ops::qk_moments_cuda(plan, sets, measuring_);
  }
  measured_.record(measuring_);
  measured_.hold(copies_);
  measuring_now_ = true;
  copy_to_host(copies_, here.host.data(), base, static_cast<size_t>(layout.copied) * sizeof(float));
  here.arrived.record(copies_);
  if (wanted.host_states()) fetch_states(stream, here, wanted, states);
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
    float* room = static_cast<float*>(widened_.reserve(out.size() * sizeof(float)));
    ops::widen_cuda(stream, {from, rows, width, stride, room});
    copy_to_host(stream, out.data(), room, out.size() * sizeof(float));
    stream.synchronize();
    return out;
  };
  const ops::CudaAttentionInputs& s = states.rotated;
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
    here.queries[n] = fetch(s.queries + batch_->first_rows[n] * s.query_stride, sequence.rows(), query_width,
                            s.query_stride);
    here.keys[n] = fetch(s.keys + first_key * s.key_stride, key_rows_[n], key_width, s.key_stride);
    here.values[n] = fetch(s.values + first_key * s.value_stride, key_rows_[n], key_width, s.value_stride);
  }
}

void DeviceObserver::finish(const Context& context) {
  for (;;) {
    Slot* earliest = nullptr;
    for (Slot& candidate : slots_) {
      if (candidate.layer >= 0 && (earliest == nullptr || candidate.layer < earliest->layer))
        earliest = &candidate;
    }
    if (earliest == nullptr) break;
    deliver(context, *earliest);
  }
  wants_.clear();
  in_plan_ = nullptr;
}

std::uint64_t DeviceObserver::device_bytes() const {
  std::uint64_t bytes = bias_.bytes() + scale_.bytes() + widened_.bytes();
  for (const Slot& one : slots_) bytes += one.device.bytes();
  return bytes;
}

}  // namespace buoy::model

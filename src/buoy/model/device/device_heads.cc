// What heads put out, and how far their keys and values moved since the forward before.

#include "buoy/model/device/device_observer.h"
#include "buoy/ops/moments/head_states_cuda.h"

namespace buoy::model {
namespace {

// Keys and values of the forward before, bf16 [rows, kv_heads * head_dim] each.
struct PreviousOnDevice {
  DeviceMemory keys, values;
};

// Room for more rows behind those that are there.
std::uint16_t* grown(const Stream& stream, DeviceMemory& memory, std::size_t bytes) {
  if (memory.bytes() < bytes) {
    DeviceMemory larger(bytes);
    if (memory.bytes() > 0) {
      copy_on_device(stream, larger.data(), memory.data(), memory.bytes());
      stream.synchronize();
    }
    memory = std::move(larger);
  }
  return memory.as<std::uint16_t>();
}

}  // namespace

void DeviceObserver::measure_heads(std::int64_t layer, const DeviceStates& states,
                                   const std::uint16_t* attended) {
  const LayerWants& wanted = wants(layer);
  if (wanted.head_norm) {
    const std::int64_t rows = batch_->rows(), width = config_.heads * config_.head_dim;
    float* norms = slot(layer).device.as<float>() + slot(layer).layout.head_norm;
    ops::head_norms_cuda(measuring_, {{attended, width, rows, config_.heads, config_.head_dim}, norms, rows});
  }
  for (size_t n = 0; n < wanted.observations.size(); ++n) {
    if (wanted.observations[n].request.previous_keys) measure_drift(n, layer, states.rotated);
  }
}

void DeviceObserver::measure_drift(size_t n, std::int64_t layer, const ops::DeviceAttentionInputs& states) {
  const LayerObservation& observation = wants(layer).observations[n];
  const auto& sequence = batch_->sequences[n];
  const std::int64_t first_key =
      sequence.cache != nullptr ? sequence.cache->first_pool_row() : batch_->first_rows[n];
  const std::int64_t keys = key_rows_[n], width = config_.kv_heads * config_.head_dim;
  auto& before = observation.request.previous_keys->of_layer.at(static_cast<size_t>(layer));
  const std::int64_t known = before.advance(observation.address.step, keys);
  if (!before.on_device) before.on_device = std::make_shared<PreviousOnDevice>();
  auto& room = *static_cast<PreviousOnDevice*>(before.on_device.get());
  const auto drift = [&](const std::uint16_t* from, std::int64_t stride, DeviceMemory& then,
                         std::int64_t cosines) {
    ops::head_drift_cuda(measuring_,
                         {{from + first_key * stride, stride, keys, config_.kv_heads, config_.head_dim},
                          grown(measuring_, then, static_cast<size_t>(keys * width) * sizeof(std::uint16_t)),
                          known,
                          slot(layer).device.as<float>() + cosines + first_columns_[n],
                          columns_});
  };
  drift(states.keys, states.key_stride, room.keys, slot(layer).layout.key_cosine);
  drift(states.values, states.value_stride, room.values, slot(layer).layout.value_cosine);
}

}  // namespace buoy::model

#include "buoy/model/device/device_weights.h"

#include <fmt/format.h>

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/progress.h"
#include "buoy/model/device/device_arena.h"
#include "buoy/model/device/weight_upload.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/tensor/device.h"

namespace buoy::model {
namespace {

struct Widths {
  explicit Widths(const ModelConfig& c)
      : queries(c.heads * c.head_dim), qkv((c.heads + 2 * c.kv_heads) * c.head_dim) {}
  std::int64_t queries, qkv;
};

DeviceLayerWeights take_layer(DeviceArena& arena, const ModelConfig& c, const OptionalWeights& optional) {
  const Widths width(c);
  DeviceLayerWeights layer = {};
  layer.attention_norm = arena.take<float>(c.hidden);
  layer.mlp_norm = arena.take<float>(c.hidden);
  if (optional.qk_norm) {
    layer.query_norm = arena.take<float>(c.head_dim);
    layer.key_norm = arena.take<float>(c.head_dim);
  }
  if (optional.qkv_bias) layer.qkv_bias = arena.take<float>(width.qkv);
  layer.qkv = arena.take<std::uint16_t>(width.qkv * c.hidden);
  layer.attention_out = arena.take<std::uint16_t>(c.hidden * width.queries);
  layer.gate_up = arena.take<std::uint16_t>(2 * c.mlp_hidden * c.hidden);
  layer.down = arena.take<std::uint16_t>(c.hidden * c.mlp_hidden);
  return layer;
}

void require_free_memory(std::uint64_t needed) {
  const auto devices = usable_devices();
  if (devices.empty()) throw_usage_error({"`device` cuda", "an NVIDIA GPU this process can use", "none"});
  if (needed > devices[0].free_bytes) {
    throw_usage_error({fmt::format("weights on {}", devices[0].name),
                       fmt::format("{} free (the weights in bf16)", describe_bytes(needed)),
                       fmt::format("{} free of {}", describe_bytes(devices[0].free_bytes),
                                   describe_bytes(devices[0].memory_bytes))});
  }
}

}  // namespace

DeviceWeights::DeviceWeights(const ModelConfig& c, const OptionalWeights& optional) {
  const auto lay_out = [&](void* base) {
    DeviceArena arena(base);
    embedding_ = arena.take<std::uint16_t>(c.vocabulary * c.hidden);
    head_ = c.tied_head ? embedding_ : arena.take<std::uint16_t>(c.vocabulary * c.hidden);
    final_norm_ = arena.take<float>(c.hidden);
    layers_.clear();
    for (std::int64_t i = 0; i < c.layers; ++i) layers_.push_back(take_layer(arena, c, optional));
    return arena.used();
  };
  const std::size_t needed = lay_out(nullptr);
  require_free_memory(needed);
  lay_out(memory_.reserve(needed));
}

DeviceWeights DeviceWeights::load(const ModelConfig& config, const ModelWeights& weights) {
  const LayerWeights& first = weights.layers.at(0);
  DeviceWeights out(config, {!first.query_bias.empty(), !first.query_norm.empty()});
  WeightUpload upload;
  upload.matrix(weights.embedding, out.embedding_);
  if (!config.tied_head) upload.matrix(weights.head, out.head_);
  upload.vector(weights.final_norm, out.final_norm_);
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const LayerWeights& from = weights.layers[i];
    const DeviceLayerWeights& to = out.layers_[i];
    upload.vector(from.attention_norm, to.attention_norm);
    upload.vector(from.mlp_norm, to.mlp_norm);
    if (to.query_norm != nullptr) {
      upload.vector(from.query_norm, to.query_norm);
      upload.vector(from.key_norm, to.key_norm);
    }
    if (to.qkv_bias != nullptr) {
      std::vector<float> bias = from.query_bias;
      bias.insert(bias.end(), from.key_bias.begin(), from.key_bias.end());
      bias.insert(bias.end(), from.value_bias.begin(), from.value_bias.end());
      upload.vector(bias, to.qkv_bias);
    }
    upload.matrix(from.value, upload.matrix(from.key, upload.matrix(from.query, to.qkv)));
    upload.matrix(from.attention_out, to.attention_out);
    upload.taking_turns(from.gate, from.up, ops::kSwigluTurn, to.gate_up);
    upload.matrix(from.down, to.down);
  }
  out.staging_ = upload.finish();
  return out;
}

DeviceWeights DeviceWeights::random(const ModelConfig& c, const OptionalWeights& optional,
                                    std::uint64_t seed) {
  DeviceWeights out(c, optional);
  const Stream stream;
  const Widths width(c);
  const auto fill = [&](const std::uint16_t* matrix, std::int64_t outputs, std::int64_t inputs) {
    ops::fill_normal_cuda(stream, const_cast<std::uint16_t*>(matrix), outputs * inputs, seed++,
                          1.0 / std::sqrt(static_cast<double>(inputs)));
  };
  const std::vector<float> ones(static_cast<size_t>(std::max(c.hidden, width.qkv)), 1.0f);
  const auto set = [&](const float* vector, std::int64_t size) {
    if (vector == nullptr) return;
    copy_to_device(stream, const_cast<float*>(vector), ones.data(),
                   static_cast<size_t>(size) * sizeof(float));
  };
  fill(out.embedding_, c.vocabulary, c.hidden);
  if (!c.tied_head) fill(out.head_, c.vocabulary, c.hidden);
  set(out.final_norm_, c.hidden);
  for (const DeviceLayerWeights& layer : out.layers_) {
    set(layer.attention_norm, c.hidden);
    set(layer.mlp_norm, c.hidden);
    set(layer.query_norm, c.head_dim);
    set(layer.key_norm, c.head_dim);
    set(layer.qkv_bias, width.qkv);
    fill(layer.qkv, width.qkv, c.hidden);
    fill(layer.attention_out, c.hidden, width.queries);
    fill(layer.gate_up, 2 * c.mlp_hidden, c.hidden);
    fill(layer.down, c.hidden, c.mlp_hidden);
  }
  stream.synchronize();
  return out;
}

}  // namespace buoy::model

#include "buoy/model/device/device_weights.h"

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/model/device/device_arena.h"
#include "buoy/model/device/head_order.h"
#include "buoy/model/device/weight_upload.h"
#include "buoy/model/memory.h"
#include "buoy/ops/pointwise/elementwise_cuda.h"
#include "buoy/tensor/device.h"

namespace buoy::model {
namespace {

struct Widths {
  explicit Widths(const ModelConfig& c)
      : queries(c.heads * c.head_dim), qkv((c.heads + 2 * c.kv_heads) * c.head_dim) {}
  std::int64_t queries, qkv;
};

DeviceMixtureWeights take_mixture(DeviceArena& arena, const ModelConfig& c, const OptionalWeights& optional) {
  const ExpertConfig& e = *c.experts;
  DeviceMixtureWeights mixture;
  mixture.parts = optional.router_parts;
  mixture.router = arena.take<std::uint16_t>(mixture.parts * e.count * c.hidden);
  if (e.bias) mixture.bias = arena.take<float>(e.count);
  mixture.gate_up = arena.take<std::uint16_t>(e.count * 2 * e.width * c.hidden);
  mixture.down = arena.take<std::uint16_t>(e.count * c.hidden * e.width);
  return mixture;
}

DeviceLayerWeights take_layer(DeviceArena& arena, const ModelConfig& c, const OptionalWeights& optional,
                              std::int64_t number) {
  const Widths width(c);
  const bool mixture = is_mixture(c, number);
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
  layer.mlp_width = mixture ? c.experts->shared_width : c.mlp_hidden;
  if (layer.mlp_width > 0) {
    layer.gate_up = arena.take<std::uint16_t>(2 * layer.mlp_width * c.hidden);
    layer.down = arena.take<std::uint16_t>(c.hidden * layer.mlp_width);
  }
  if (mixture) layer.mixture = take_mixture(arena, c, optional);
  return layer;
}

void require_free_memory(const ModelConfig& config, std::uint64_t needed) {
  if (usable_devices().empty())
    throw_usage_error({"`device` cuda", "an NVIDIA GPU this process can use", "none"});
  require_room(config, needed, machine_memory(Device::kCuda));
}

// Whether the numbers of all routers are bf16.
std::int64_t router_parts(const ModelWeights& weights) {
  for (const LayerWeights& layer : weights.layers) {
    if (layer.mixture.any() && layer.mixture.router.dtype != DType::kBF16) return 2;
  }
  return 1;
}

void upload_mixture(WeightUpload& upload, const MixtureWeights& from, const DeviceMixtureWeights& to) {
  const std::uint16_t* rest = upload.matrix(from.router, to.router);
  if (to.parts == 2) {  // what bf16 leaves of it
    std::vector<float> left(static_cast<size_t>(from.router.size()));
    to_float(from.router, 0, from.router.size(), left.data());
    for (float& value : left) value -= bf16_to_float(float_to_bf16(value));
    upload.matrix({reinterpret_cast<const std::byte*>(left.data()), DType::kF32, from.router.shape}, rest);
  }
  if (to.bias != nullptr) upload.vector(from.bias, to.bias);
  const std::uint16_t *gate_up = to.gate_up, *down = to.down;
  for (const ops::ExpertWeights& expert : from.experts) {
    upload.taking_turns(expert.gate, expert.up, ops::kSwigluTurn, gate_up);
    gate_up += 2 * expert.gate.size();
    down = upload.matrix(expert.down, down);
  }
}

// Rows of the heads of a matrix, in the order of the device; returns where the next matrix may go.
std::uint16_t* upload_heads(WeightUpload& upload, const Weight& matrix,
                            const std::vector<std::int64_t>& order, const std::uint16_t* device) {
  if (order.empty()) return upload.matrix(matrix, device);
  const auto dim = std::ssize(order);
  std::uint16_t* to = const_cast<std::uint16_t*>(device);
  for (std::int64_t head = 0; head < matrix.rows(); head += dim) {
    for (std::int64_t i = 0, end = 0; i < dim; i = end) {  // neighbours travel together
      const auto at = [&](std::int64_t place) { return order[static_cast<size_t>(place)]; };
      for (end = i + 1; end < dim && at(end) == at(end - 1) + 1;) ++end;
      to = upload.matrix(rows_of(matrix, head + at(i), end - i), to);
    }
  }
  return to;
}

}  // namespace

DeviceWeights::DeviceWeights(const ModelConfig& c, const OptionalWeights& optional) {
  const auto lay_out = [&](void* base) {
    DeviceArena arena(base);
    embedding_ = arena.take<std::uint16_t>(c.vocabulary * c.hidden);
    head_ = c.tied_head ? embedding_ : arena.take<std::uint16_t>(c.vocabulary * c.hidden);
    final_norm_ = arena.take<float>(c.hidden);
    layers_.clear();
    for (std::int64_t i = 0; i < c.layers; ++i) layers_.push_back(take_layer(arena, c, optional, i));
    return arena.used();
  };
  const std::size_t needed = lay_out(nullptr);
  require_free_memory(c, needed);
  lay_out(memory_.reserve(needed));
}

DeviceWeights DeviceWeights::load(const ModelConfig& config, const ModelWeights& weights) {
  const LayerWeights& first = weights.layers.at(0);
  DeviceWeights out(config, {!first.query_bias.empty(), !first.query_norm.empty(), router_parts(weights)});
  const auto order = device_head_order(config);
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
      upload.vector(in_head_order(from.query_norm, order), to.query_norm);
      upload.vector(in_head_order(from.key_norm, order), to.key_norm);
    }
    if (to.qkv_bias != nullptr) {
      std::vector<float> bias = in_head_order(from.query_bias, order);
      const auto keys = in_head_order(from.key_bias, order);
      bias.insert(bias.end(), keys.begin(), keys.end());
      bias.insert(bias.end(), from.value_bias.begin(), from.value_bias.end());
      upload.vector(bias, to.qkv_bias);
    }
    const std::uint16_t* keys = upload_heads(upload, from.query, order, to.qkv);
    upload.matrix(from.value, upload_heads(upload, from.key, order, keys));
    upload.matrix(from.attention_out, to.attention_out);
    if (to.mlp_width > 0) {
      upload.taking_turns(from.gate, from.up, ops::kSwigluTurn, to.gate_up);
      upload.matrix(from.down, to.down);
    }
    if (to.mixture.any()) upload_mixture(upload, from.mixture, to.mixture);
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
    if (layer.mlp_width > 0) {
      fill(layer.gate_up, 2 * layer.mlp_width, c.hidden);
      fill(layer.down, c.hidden, layer.mlp_width);
    }
    if (!layer.mixture.any()) continue;
    const ExpertConfig& e = *c.experts;
    fill(layer.mixture.router, layer.mixture.parts * e.count, c.hidden);
    if (layer.mixture.bias != nullptr)
      fill_bytes(stream, const_cast<float*>(layer.mixture.bias), 0,
                 static_cast<size_t>(e.count) * sizeof(float));
    fill(layer.mixture.gate_up, e.count * 2 * e.width, c.hidden);
    fill(layer.mixture.down, e.count * c.hidden, e.width);
  }
  stream.synchronize();
  return out;
}

}  // namespace buoy::model

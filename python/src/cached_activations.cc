#include "cached_activations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "buoy/base/error.h"

namespace buoy::python {
namespace {

constexpr std::array<std::string_view, 11> kNames = {"pattern",  "resid_pre", "resid_mid", "resid_post",
                                                     "attn_out", "mlp_out",   "z",         "result",
                                                     "rot_q",    "rot_k",     "v"};

}  // namespace

CachedActivations::CachedActivations(const Wanted& wanted, const ModelConfig& config)
    : wanted_(wanted), config_(config) {
  for (const auto& [name, layers] : wanted) {
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end())
      throw_usage_error({"names", "an activation that a forward has", '"' + name + '"'});
    for (const auto layer : layers) {
      if (layer < 0 || layer >= config.layers)
        throw_usage_error({"layer", fmt::format("0 to {}", config.layers - 1), std::to_string(layer)});
    }
  }
}

bool CachedActivations::wants(const char* name, std::int64_t layer) const {
  const auto found = wanted_.find(name);
  return found != wanted_.end() &&
         std::find(found->second.begin(), found->second.end(), layer) != found->second.end();
}

probe::LayerRequest CachedActivations::request(const probe::Address& address,
                                               const probe::LayerExtent& extent) {
  const auto layer = address.layer;
  probe::LayerRequest out;
  out.dense = wants("pattern", layer);
  out.states = wants("rot_q", layer) || wants("rot_k", layer) || wants("v", layer);
  auto& stream = out.residual;
  stream.pre = wants("resid_pre", layer);
  stream.mid = wants("resid_mid", layer);
  stream.post = wants("resid_post", layer);
  stream.attention_out = wants("attn_out", layer);
  stream.mlp_out = wants("mlp_out", layer);
  stream.head_out = wants("z", layer) || wants("result", layer);
  stream.rows.resize(static_cast<size_t>(extent.query_rows));
  std::iota(stream.rows.begin(), stream.rows.end(), 0);
  if (!stream.any()) stream.rows.clear();
  return out;
}

void CachedActivations::keep(const char* name, std::int64_t layer, std::vector<float>&& values,
                             std::vector<std::int64_t> shape, const float* on_device) {
  if (!wants(name, layer)) return;
  auto& kept = arrays_[{name, layer}] = {std::move(values), std::move(shape)};
  if (on_device == nullptr) return;
  try {
    kept.on_card = std::make_shared<DeviceArray>(on_device, kept.shape);
  } catch (const IoError&) {  // no room: the numbers are on the host all the same
  }
}

void CachedActivations::take(const probe::Address& address, probe::LayerRecord&& record) {
  const auto layer = address.layer;
  const auto& states = record.states;
  const std::int64_t rows = states.query_rows, hidden = config_.hidden, dim = config_.head_dim;
  const auto copy = [](const float* values, std::int64_t count) {
    return values == nullptr ? std::vector<float>() : std::vector<float>(values, values + count);
  };
  keep("pattern", layer, std::move(record.dense), {states.heads, rows, states.key_rows});
  auto& stream = record.residual;
  keep("resid_pre", layer, std::move(stream.pre), {rows, hidden}, stream.on_device.pre);
  keep("resid_mid", layer, std::move(stream.mid), {rows, hidden}, stream.on_device.mid);
  keep("resid_post", layer, std::move(stream.post), {rows, hidden}, stream.on_device.post);
  keep("attn_out", layer, std::move(stream.attention_out), {rows, hidden});
  keep("mlp_out", layer, std::move(stream.mlp_out), {rows, hidden});
  // For `result` the same numbers go through the output projection, in finish().
  if (wants("result", layer)) arrays_[{"result", layer}] = {stream.head_out, {rows, config_.heads, hidden}};
  keep("z", layer, std::move(stream.head_out), {rows, config_.heads, dim});
  keep("rot_q", layer, copy(states.queries, rows * states.heads * dim), {rows, states.heads, dim});
  const std::int64_t keys = states.key_rows, kv_heads = states.kv_heads;
  keep("rot_k", layer, copy(states.keys, keys * kv_heads * dim), {keys, kv_heads, dim});
  keep("v", layer, copy(states.values, keys * kv_heads * dim), {keys, kv_heads, dim});
}

void CachedActivations::finish(const Context& context, model::Model& model) {
  for (auto& [key, kept] : arrays_) {
    if (key.first != "result") continue;
    if (model.device() == Device::kCuda && model.initialisation())
      throw_usage_error({"names", "a network that was read from files, for what heads add (result)",
                         "one that was drawn (untrained)"});
    kept.values = model.head_contributions(context, key.second, kept.values);
  }
}

}  // namespace buoy::python

#include "buoy/model/weights.h"

#include <fmt/format.h>

#include <cstring>

#include "buoy/base/error.h"

namespace buoy::model {
namespace {

std::vector<float> vector_weight(Checkpoint& checkpoint, const std::string& name, std::int64_t size) {
  std::vector<float> values(static_cast<size_t>(size));
  to_float(checkpoint.weight(name, {size}), 0, size, values.data());
  return values;
}

bool same_numbers(const Weight& a, const Weight& b) {
  if (a.dtype == b.dtype)
    return std::memcmp(a.data, b.data, static_cast<size_t>(a.size()) * size_of(a.dtype)) == 0;
  std::vector<float> left(static_cast<size_t>(a.columns())), right(left.size());
  for (std::int64_t row = 0; row < a.rows(); ++row) {
    to_float(a, row * a.columns(), a.columns(), left.data());
    to_float(b, row * a.columns(), a.columns(), right.data());
    if (left != right) return false;
  }
  return true;
}

// Experts one by one, or those of a layer in two tensors. Not both.
std::vector<ops::ExpertWeights> load_experts(Checkpoint& checkpoint, const ExpertNames& names,
                                             const std::string& prefix) {
  const ModelConfig& config = checkpoint.config();
  const std::int64_t count = config.experts->count, width = config.experts->width, hidden = config.hidden;
  const auto one = [&](std::int64_t expert, const std::string& name) {
    return fmt::format("{}{}.{}.{}.weight", prefix, names.experts, expert, name);
  };
  std::vector<ops::ExpertWeights> out;
  if (names.stacked_down.empty() ||
      (!checkpoint.has(prefix + names.stacked_gate_up) && !checkpoint.has(prefix + names.stacked_down))) {
    for (std::int64_t e = 0; e < count; ++e) {
      out.push_back({checkpoint.weight(one(e, names.gate), {width, hidden}),
                     checkpoint.weight(one(e, names.up), {width, hidden}),
                     checkpoint.weight(one(e, names.down), {hidden, width})});
    }
    return out;
  }
  const Weight gate_up = checkpoint.weight(prefix + names.stacked_gate_up, {count, 2 * width, hidden}),
               down = checkpoint.weight(prefix + names.stacked_down, {count, hidden, width});
  for (std::int64_t e = 0; e < count; ++e) {
    for (const auto& name : {names.gate, names.up, names.down}) {
      if (!checkpoint.has(one(e, name))) continue;
      throw_input_error(
          {fmt::format("{}: {}", checkpoint.folder().string(), one(e, name)),
           fmt::format("experts in one layout: {} holds all of them", prefix + names.stacked_gate_up),
           "both"});
    }
    const Weight both = matrix_of(gate_up, e);
    out.push_back({rows_of(both, 0, width), rows_of(both, width, width), matrix_of(down, e)});
  }
  return out;
}

MixtureWeights load_mixture(Checkpoint& checkpoint, const ExpertNames& names, const std::string& prefix) {
  const ExpertConfig& experts = *checkpoint.config().experts;
  MixtureWeights out;
  out.router =
      checkpoint.weight(prefix + names.router + ".weight", {experts.count, checkpoint.config().hidden});
  if (experts.bias) out.bias = vector_weight(checkpoint, prefix + names.bias, experts.count);
  out.experts = load_experts(checkpoint, names, prefix);
  return out;
}

LayerWeights load_layer(Checkpoint& checkpoint, const FamilyTraits& traits, std::int64_t number) {
  const ModelConfig& config = checkpoint.config();
  const std::int64_t queries = config.heads * config.head_dim, keys = config.kv_heads * config.head_dim;
  const auto full = [&](const std::string& name) {
    return fmt::format("{}{}.{}.weight", traits.layer_prefix, number, name);
  };
  const auto matrix = [&](const std::string& name, std::int64_t outputs, std::int64_t inputs) {
    return checkpoint.weight(full(name), {outputs, inputs});
  };
  const auto bias = [&](const std::string& name, std::int64_t size) {
    return vector_weight(checkpoint, fmt::format("{}{}.{}.bias", traits.layer_prefix, number, name), size);
  };
  const LayerNames& names = traits.layer;
  LayerWeights layer;
  layer.attention_norm = vector_weight(checkpoint, full(names.attention_norm), config.hidden);
  if (names.fused_qkv.empty()) {
    layer.query = matrix(names.query, queries, config.hidden);
    layer.key = matrix(names.key, keys, config.hidden);
    layer.value = matrix(names.value, keys, config.hidden);
  } else {
    const Weight fused = matrix(names.fused_qkv, queries + 2 * keys, config.hidden);
    layer.query = rows_of(fused, 0, queries);
    layer.key = rows_of(fused, queries, keys);
    layer.value = rows_of(fused, queries + keys, keys);
  }
  layer.attention_out = matrix(names.attention_out, config.hidden, queries);
  layer.mlp_norm = vector_weight(checkpoint, full(names.mlp_norm), config.hidden);
  if (is_mixture(config, number)) {
    const ExpertNames& mixture = traits.mixture;
    layer.mixture = load_mixture(checkpoint, mixture, fmt::format("{}{}.", traits.layer_prefix, number));
    if (const std::int64_t width = config.experts->shared_width; width > 0) {
      layer.gate = matrix(mixture.shared_gate, width, config.hidden);
      layer.up = matrix(mixture.shared_up, width, config.hidden);
      layer.down = matrix(mixture.shared_down, config.hidden, width);
    }
  } else {
    layer.gate = matrix(names.gate, config.mlp_hidden, config.hidden);
    layer.up = matrix(names.up, config.mlp_hidden, config.hidden);
    layer.down = matrix(names.down, config.hidden, config.mlp_hidden);
  }
  if (traits.qkv_bias) {
    layer.query_bias = bias(names.query, queries);
    layer.key_bias = bias(names.key, keys);
    layer.value_bias = bias(names.value, keys);
  }
  if (!names.query_norm.empty()) {
    layer.query_norm = vector_weight(checkpoint, full(names.query_norm), config.head_dim);
    layer.key_norm = vector_weight(checkpoint, full(names.key_norm), config.head_dim);
  }
  return layer;
}

}  // namespace

ModelWeights load_weights(Checkpoint& checkpoint, const FamilyTraits& traits) {
  const ModelConfig& config = checkpoint.config();
  ModelWeights weights;
  weights.embedding = checkpoint.weight(traits.embedding, {config.vocabulary, config.hidden});
  weights.final_norm = vector_weight(checkpoint, traits.final_norm, config.hidden);
  for (std::int64_t i = 0; i < config.layers; ++i)
    weights.layers.push_back(load_layer(checkpoint, traits, i));
  // A tied checkpoint may still carry the head's name; transformers ignores its content, and so do we.
  if (config.tied_head) {
    weights.head = weights.embedding;
    if (checkpoint.has(traits.head)) {
      const Weight stored = checkpoint.weight(traits.head, {config.vocabulary, config.hidden});
      if (traits.compare_tied_head && !same_numbers(stored, weights.embedding)) {
        throw_input_error(
            {fmt::format("{}: {}", checkpoint.folder().string(), traits.head),
             fmt::format("the numbers of {}, since tie_word_embeddings is true", traits.embedding),
             "others"});
      }
    }
  } else {
    weights.head = checkpoint.weight(traits.head, {config.vocabulary, config.hidden});
  }
  checkpoint.refuse_unused();
  return weights;
}

}  // namespace buoy::model

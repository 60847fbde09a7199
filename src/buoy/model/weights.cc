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
  layer.query = matrix(names.query, queries, config.hidden);
  layer.key = matrix(names.key, keys, config.hidden);
  layer.value = matrix(names.value, keys, config.hidden);
  layer.attention_out = matrix(names.attention_out, config.hidden, queries);
  layer.mlp_norm = vector_weight(checkpoint, full(names.mlp_norm), config.hidden);
  layer.gate = matrix(names.gate, config.mlp_hidden, config.hidden);
  layer.up = matrix(names.up, config.mlp_hidden, config.hidden);
  layer.down = matrix(names.down, config.hidden, config.mlp_hidden);
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

#include "buoy/checkpoint/expert_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"

namespace buoy {
namespace {

constexpr std::int64_t kMostExperts = 1 << 16, kWidest = std::int64_t{1} << 31;

// Settings of other models, which insert or delete tokens, leave tokens out of experts, or read images.
void refuse_other_models(const JsonObject& config, const ModelConfig& out) {
  for (const char* key : {"delete_token_id", "split_token_id", "expert_capacity", "image_token_offset"}) {
    if (config.has(key)) config.fail(key, fmt::format("no such key in a {}", out.architecture));
  }
}

void expect_text(const JsonObject& config, const char* key, std::string_view supported) {
  const auto value = config.text(key);
  if (value && *value != supported) config.fail(key, fmt::format("\"{}\"", supported));
}

void expect_boolean(const JsonObject& config, const char* key, bool supported) {
  const auto value = config.boolean(key);
  if (value && *value != supported) config.fail(key, supported ? "true" : "false");
}

// transformers writes one name or the other.
std::int64_t expert_count(const JsonObject& config) {
  const auto named = config.integer("num_experts"), local = config.integer("num_local_experts");
  if (named && local && *named != *local)
    config.fail("num_local_experts", fmt::format("{}, as num_experts", *named));
  return config.required_integer(named || !local ? "num_experts" : "num_local_experts", {1, kMostExperts});
}

std::int64_t width(const JsonObject& config, const char* key) {
  return config.required_integer(key, {1, kWidest});
}

// Layers that Qwen3's config leaves dense.
std::vector<bool> qwen_dense(const JsonObject& config, const ModelConfig& out) {
  std::vector<bool> dense(static_cast<size_t>(out.layers), false);
  const std::int64_t every =
      config.has("decoder_sparse_step") ? config.required_integer("decoder_sparse_step", {1, kWidest}) : 1;
  for (std::int64_t i = 0; i < out.layers; ++i) dense[static_cast<size_t>(i)] = (i + 1) % every != 0;
  if (const Json* named = config.find("mlp_only_layers")) {
    if (!named->is_array()) config.fail("mlp_only_layers", "a list of layers");
    for (const Json& layer : *named)
      dense[static_cast<size_t>(
          checked_integer(layer, config.name() + ": mlp_only_layers", {0, out.layers - 1}))] = true;
  }
  return dense;
}

void read_qwen3_moe(const JsonObject& config, ModelConfig& out) {
  ExpertConfig& experts = *out.experts;
  experts.width = width(config, "moe_intermediate_size");
  // The class of Qwen3-MoE has false where the file says nothing; engines for SDAR-MoE always divide.
  experts.renormalise = config.boolean("norm_topk_prob").value_or(out.family != Family::kQwen3Moe);
  experts.dense = qwen_dense(config, out);
}

void read_rnd1(const JsonObject& config, ModelConfig& out) {
  expect_boolean(config, "norm_topk_prob", true);
  read_qwen3_moe(config, out);
  for (const char* key : {"decoder_sparse_step", "mlp_only_layers"}) {
    if (out.experts->dense != std::vector<bool>(out.experts->dense.size(), false) && config.has(key))
      config.fail(key, "experts in every layer");
  }
}

void read_mixtral(const JsonObject& config, ModelConfig& out) {
  if (config.has("sliding_window")) config.fail("sliding_window", "null: every key is seen");
  expect_boolean(config, "norm_topk_prob", true);
  out.experts->width = width(config, "intermediate_size");
  out.experts->renormalise = true;
}

// Whatever norm_topk_prob says, the published code divides nothing.
void read_llada_moe(const JsonObject& config, ModelConfig& out) {
  ExpertConfig& experts = *out.experts;
  expect_text(config, "moe_router_score_function", "softmax");
  expect_boolean(config, "qk_layernorm", true);
  if (!config.has("partial_rotary_factor"))
    config.fail("partial_rotary_factor", "a number above 0 and at most 1");
  if (config.has("shared_expert_intermediate_size"))
    config.fail("shared_expert_intermediate_size", "null: no released model has a shared expert");
  experts.width = width(config, "expert_intermediate_size");
  experts.bias = config.boolean("moe_router_enable_expert_bias").value_or(false);
  const Json* frequency = config.find("moe_layer_freq");
  if (frequency == nullptr || !frequency->is_array() || std::ssize(*frequency) != out.layers)
    config.fail("moe_layer_freq",
                fmt::format("a list of {} numbers, 0 for a layer without experts", out.layers));
  for (size_t i = 0; i < frequency->size(); ++i)
    experts.dense[i] = checked_integer((*frequency)[i], config.name() + ": moe_layer_freq", {0, 1}) == 0;
}

void read_llada2(const JsonObject& config, ModelConfig& out) {
  ExpertConfig& experts = *out.experts;
  expect_text(config, "score_function", "sigmoid");
  expect_text(config, "router_dtype", "fp32");
  expect_boolean(config, "norm_topk_prob", true);
  expect_boolean(config, "use_qk_norm", true);
  // The class has a bias where the file says nothing.
  for (const char* key : {"use_bias", "use_qkv_bias"}) {
    if (config.boolean(key).value_or(true)) config.fail(key, "false");
  }
  experts.router = RouterType::kSigmoidGroups;
  experts.width = width(config, "moe_intermediate_size");
  if (config.has("num_shared_experts"))
    experts.shared_width = experts.width * config.required_integer("num_shared_experts", {0, 1024});
  experts.bias = config.boolean("moe_router_enable_expert_bias").value_or(true);
  experts.renormalise = true;
  experts.scale = config.required_number("routed_scaling_factor");
  if (!(experts.scale > 0) || !std::isfinite(experts.scale))
    config.fail("routed_scaling_factor", "a positive number");
  const auto groups = config.required_integer("n_group", {1, kMostExperts});
  if (experts.count % groups != 0 || experts.count / groups < 2)
    config.fail("n_group",
                fmt::format("a number that divides {} experts into groups of at least 2", experts.count));
  experts.groups = groups;
  experts.kept_groups = config.required_integer("topk_group", {1, groups});
  const std::int64_t candidates = experts.kept_groups * (experts.count / groups);
  if (experts.chosen > candidates) {
    config.fail("num_experts_per_tok",
                fmt::format("at most {}, the experts of {} groups", candidates, experts.kept_groups));
  }
  const std::int64_t first = config.has("first_k_dense_replace")
                                 ? config.required_integer("first_k_dense_replace", {0, out.layers})
                                 : 0;
  for (std::int64_t i = 0; i < first; ++i) experts.dense[static_cast<size_t>(i)] = true;
  if (config.has("rotary_dim") && config.required_integer("rotary_dim") != out.rope.rotary_dim)
    config.fail("rotary_dim", fmt::format("{}, by partial_rotary_factor", out.rope.rotary_dim));
}

// Of the layers without experts; 0 where there are none and the file is silent.
void read_dense_width(const JsonObject& config, ModelConfig& out) {
  const char* key = out.family == Family::kLladaMoe ? "dense_intermediate_size" : "intermediate_size";
  const auto& dense = out.experts->dense;
  const bool needed = std::find(dense.begin(), dense.end(), true) != dense.end();
  if (needed || config.has(key)) out.mlp_hidden = width(config, key);
}

}  // namespace

void read_expert_settings(const JsonObject& config, ModelConfig& out) {
  refuse_other_models(config, out);
  ExpertConfig& experts = out.experts.emplace();
  experts.dense.assign(static_cast<size_t>(out.layers), false);
  experts.count = expert_count(config);
  experts.chosen = config.required_integer("num_experts_per_tok", {1, kMostExperts});
  if (experts.chosen > experts.count)
    config.fail("num_experts_per_tok", fmt::format("at most {}, the number of experts", experts.count));
  switch (out.family) {
    case Family::kMixtral:
      read_mixtral(config, out);
      break;
    case Family::kLladaMoe:
      read_llada_moe(config, out);
      break;
    case Family::kLlada2:
      read_llada2(config, out);
      break;
    case Family::kRnd1:
      read_rnd1(config, out);
      break;
    default:
      read_qwen3_moe(config, out);
  }
  read_dense_width(config, out);
}

}  // namespace buoy

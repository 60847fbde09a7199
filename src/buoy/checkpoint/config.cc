#include "buoy/checkpoint/config.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/checkpoint/architectures.h"
#include "buoy/checkpoint/block_settings.h"
#include "buoy/checkpoint/expert_settings.h"
#include "buoy/checkpoint/unsupported_settings.h"
#include "buoy/checkpoint/yarn_settings.h"

namespace buoy {
namespace {

struct KnownArchitecture {
  std::string_view name;
  Family family;
};

constexpr std::array<KnownArchitecture, 18> kArchitectures = {
    {{"LLaDAModelLM", Family::kLlada},
     {"DreamModel", Family::kDream},
     {"LlamaForCausalLM", Family::kLlama},
     {"Qwen2ForCausalLM", Family::kQwen2},
     {"Qwen3ForCausalLM", Family::kQwen3},
     {"A2DQwen3LMHeadModel", Family::kA2dQwen3},
     {"_A2DQwen3LMHeadModel", Family::kA2dQwen3},
     {"A2DQwen2LMHeadModel", Family::kA2dQwen2},
     {"SDARForCausalLM", Family::kSdar},
     {"Fast_dLLM_QwenForCausalLM", Family::kFastDllm},
     {"NemotronLabsDiffusionModel", Family::kNemotron},
     {"Qwen3MoeForCausalLM", Family::kQwen3Moe},
     {"MixtralForCausalLM", Family::kMixtral},
     {"LLaDAMoEModel", Family::kLladaMoe},
     {"LLaDAMoEModelLM", Family::kLladaMoe},
     {"SDARMoeForCausalLM", Family::kSdarMoe},
     {"RND1", Family::kRnd1},
     {"LLaDA2MoeModelLM", Family::kLlada2}}};

constexpr std::int64_t kLargestSize = std::int64_t{1} << 31;

// The first of several spellings that is present.
std::optional<std::int64_t> any_integer(const JsonObject& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const auto value = config.integer(key)) {
      if (*value < 1 || *value >= kLargestSize) config.fail(key, "a size between 1 and 2^31");
      return value;
    }
  }
  return std::nullopt;
}

std::int64_t required_size(const JsonObject& config, std::initializer_list<const char*> keys) {
  if (const auto value = any_integer(config, keys)) return *value;
  std::string spellings;
  for (const char* key : keys) spellings += fmt::format("{}{}", spellings.empty() ? "" : " or ", key);
  throw_input_error({config.name(), spellings, "neither"});
}

// The spelling this file uses, for errors.
const char* spelling(const JsonObject& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (config.has(key)) return key;
  }
  return *keys.begin();
}

void read_family(const JsonObject& config, ModelConfig& out) {
  const Json* list = config.find("architectures");
  if (list == nullptr || !list->is_array() || list->empty() || !(*list)[0].is_string()) {
    config.fail("architectures", "a list with the architecture's name");
  }
  out.architecture = (*list)[0].get<std::string>();
  refuse_unsupported_architecture(config, out.architecture);
  std::string known;
  for (const auto& candidate : kArchitectures) {
    if (candidate.name == out.architecture) {
      out.family = candidate.family;
      return;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate.name);
  }
  throw_input_error({config.name() + ": architectures", "one of " + known, '"' + out.architecture + '"'});
}

double positive_number(const JsonObject& object, const char* key) {
  const double value = object.required_number(key);
  if (!(value > 0) || !std::isfinite(value)) object.fail(key, "a positive number");
  return value;
}

// `rope_theta` + `rope_scaling`, or the newer `rope_parameters` that holds both.
void read_rope(const JsonObject& config, ModelConfig& out) {
  const auto parameters = config.object("rope_parameters");
  const auto scaling = parameters ? parameters : config.object("rope_scaling");
  if (config.has("rope_theta")) out.rope.theta = positive_number(config, "rope_theta");
  if (parameters && parameters->has("rope_theta"))
    out.rope.theta = positive_number(*parameters, "rope_theta");

  const JsonObject& owner = parameters && parameters->has("partial_rotary_factor") ? *parameters : config;
  // The class of LLaDA2 has a half where the file says nothing.
  const double fraction =
      owner.number("partial_rotary_factor").value_or(out.family == Family::kLlada2 ? 0.5 : 1.0);
  if (!(fraction > 0 && fraction <= 1)) owner.fail("partial_rotary_factor", "a number above 0 and at most 1");
  const double rotary = fraction * static_cast<double>(out.head_dim);
  out.rope.rotary_dim = static_cast<std::int64_t>(rotary);
  if (out.rope.rotary_dim % 2 != 0 || out.rope.rotary_dim < 2) {
    throw_input_error({config.name() + ": head_dim", "an even number of rotary dimensions",
                       fmt::format("{} of {}", rotary, out.head_dim)});
  }

  if (!scaling && out.family == Family::kNemotron)
    config.fail("rope_parameters", "an object with the numbers of YaRN");
  if (!scaling) return;
  const char* type_key = spelling(*scaling, {"rope_type", "type"});
  const auto type = scaling->text(type_key);
  // Of one family is it known, by what was compared, that it is computed as its publisher does.
  if (out.family == Family::kNemotron) {
    if (type != "yarn") scaling->fail(type_key, "\"yarn\"");
    out.rope.yarn = read_yarn(*scaling, out.rope.theta, out.context);
    return;
  }
  if (type ? *type == "default" : !scaling->has("factor")) return;
  if (type != "llama3") scaling->fail(type_key, "\"llama3\" or \"default\"");
  out.rope.scaling =
      Llama3RopeScaling{positive_number(*scaling, "factor"), positive_number(*scaling, "low_freq_factor"),
                        positive_number(*scaling, "high_freq_factor"),
                        positive_number(*scaling, "original_max_position_embeddings")};
  if (out.rope.scaling->low_freq_factor >= out.rope.scaling->high_freq_factor) {
    scaling->fail("low_freq_factor", "a number below high_freq_factor");
  }
}

std::int32_t token_id(const Json& value, const JsonObject& config, const char* key, std::int64_t vocabulary) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
      value.get<std::int64_t>() >= vocabulary) {
    throw_input_error({fmt::format("{}: {}", config.name(), key),
                       fmt::format("a token id below {}", vocabulary), describe_json(value)});
  }
  return value.get<std::int32_t>();
}

std::optional<std::int32_t> optional_token(const JsonObject& config, const char* key,
                                           std::int64_t vocabulary) {
  const Json* value = config.find(key);
  if (value == nullptr) return std::nullopt;
  return token_id(*value, config, key, vocabulary);
}

std::vector<std::int32_t> token_list(const JsonObject& config, const char* key, std::int64_t vocabulary) {
  const Json* value = config.find(key);
  std::vector<std::int32_t> ids;
  if (value == nullptr) return ids;
  if (!value->is_array()) return {token_id(*value, config, key, vocabulary)};
  for (const Json& id : *value) ids.push_back(token_id(id, config, key, vocabulary));
  return ids;
}

// Query heads share key/value heads evenly, and share the hidden size unless the file says how wide they are.
void read_head_dim(const JsonObject& config, ModelConfig& out) {
  if (out.heads % out.kv_heads != 0) {
    throw_input_error(
        {fmt::format("{}: {}", config.name(), spelling(config, {"n_heads", "num_attention_heads"})),
         fmt::format("a multiple of {} key/value heads", out.kv_heads), std::to_string(out.heads)});
  }
  const auto head_dim = any_integer(config, {"head_dim"});
  if (!head_dim && out.hidden % out.heads != 0) {
    throw_input_error({fmt::format("{}: {}", config.name(), spelling(config, {"d_model", "hidden_size"})),
                       fmt::format("a multiple of {} heads, or head_dim", out.heads),
                       std::to_string(out.hidden)});
  }
  out.head_dim = head_dim.value_or(out.hidden / out.heads);
}

// A full mask would show a next-token model the token it predicts. No rule of decoding here is made for
// masked diffusion behind a prefix. Both are refused.
void read_mask(const JsonObject& config, ModelConfig& out) {
  constexpr const char* kKey = "attention_mask_kind";
  const auto name = config.text(kKey);
  if (!name) return;
  for (const auto kind : {AttentionMaskKind::kCausal, AttentionMaskKind::kPrefix, AttentionMaskKind::kFull}) {
    if (*name == name_of(kind)) out.stated_mask = kind;
  }
  if (!out.stated_mask) config.fail(kKey, "\"causal\", \"prefix\" or \"full\"");
  if (may_decode_blocks(out.family))
    config.fail(kKey, fmt::format("no such key: {} has a mask of its own", out.architecture));
  const bool diffusion = is_masked_diffusion(out.family);
  if (out.stated_mask == (diffusion ? AttentionMaskKind::kPrefix : AttentionMaskKind::kFull)) {
    config.fail(kKey,
                fmt::format("\"causal\" or \"{}\" for {}, which predicts {}", diffusion ? "full" : "prefix",
                            out.architecture, diffusion ? "masked tokens" : "the next token"));
  }
}

}  // namespace

std::vector<std::string_view> architectures_of(Family family) {
  std::vector<std::string_view> names;
  for (const auto& known : kArchitectures) {
    if (known.family == family) names.push_back(known.name);
  }
  return names;
}

std::string_view name_of(Family family) {
  switch (family) {
    case Family::kLlada:
      return "LLaDA";
    case Family::kDream:
      return "Dream";
    case Family::kLlama:
      return "Llama";
    case Family::kQwen2:
      return "Qwen2";
    case Family::kQwen3:
      return "Qwen3";
    case Family::kA2dQwen3:
      return "A2D Qwen3";
    case Family::kA2dQwen2:
      return "A2D Qwen2.5";
    case Family::kSdar:
      return "SDAR";
    case Family::kFastDllm:
      return "Fast-dLLM v2";
    case Family::kNemotron:
      return "Nemotron-Labs-Diffusion";
    case Family::kQwen3Moe:
      return "Qwen3-MoE";
    case Family::kMixtral:
      return "Mixtral";
    case Family::kLladaMoe:
      return "LLaDA-MoE";
    case Family::kSdarMoe:
      return "SDAR-MoE";
    case Family::kRnd1:
      return "RND1";
    case Family::kLlada2:
      return "LLaDA2";
  }
  return "?";
}

bool is_masked_diffusion(Family family) {
  return family == Family::kLlada || family == Family::kDream || family == Family::kLladaMoe ||
         family == Family::kRnd1 || may_decode_blocks(family);
}

bool may_be_masked_diffusion(Family family) {
  return family == Family::kQwen2;
}

bool is_a2d(Family family) {
  return family == Family::kA2dQwen3 || family == Family::kA2dQwen2;
}

bool may_decode_blocks(Family family) {
  return is_a2d(family) || family == Family::kSdar || family == Family::kFastDllm ||
         family == Family::kSdarMoe || family == Family::kLlada2 || has_two_readings(family);
}

bool has_two_readings(Family family) {
  return family == Family::kNemotron;
}

bool has_experts(Family family) {
  return family == Family::kQwen3Moe || family == Family::kMixtral || family == Family::kLladaMoe ||
         family == Family::kSdarMoe || family == Family::kRnd1 || family == Family::kLlada2;
}

std::string_view name_of(AttentionMaskKind mask) {
  switch (mask) {
    case AttentionMaskKind::kCausal:
      return "causal";
    case AttentionMaskKind::kPrefix:
      return "prefix";
    case AttentionMaskKind::kFull:
      return "full";
    case AttentionMaskKind::kBlocks:
      return "blocks";
  }
  return "?";
}

AttentionMaskKind mask_of(const ModelConfig& config) {
  if (has_two_readings(config.family)) return AttentionMaskKind::kCausal;
  if (may_decode_blocks(config.family) && !is_a2d(config.family)) return AttentionMaskKind::kBlocks;
  return config.stated_mask.value_or(is_masked_diffusion(config.family) ? AttentionMaskKind::kFull
                                                                        : AttentionMaskKind::kCausal);
}

bool is_mixture(const ModelConfig& config, std::int64_t layer) {
  return config.experts && !config.experts->dense[static_cast<size_t>(layer)];
}

std::int64_t widest_mlp(const ModelConfig& config) {
  std::int64_t widest = 0;
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    widest = std::max(widest, is_mixture(config, layer) ? config.experts->shared_width : config.mlp_hidden);
  return widest;
}

ModelConfig parse_config(const Json& json, const std::string& name) {
  const JsonObject config(json, name);
  ModelConfig out{};
  read_family(config, out);
  refuse_unsupported_settings(config);

  out.hidden = required_size(config, {"d_model", "hidden_size"});
  out.layers = required_size(config, {"n_layers", "num_hidden_layers"});
  out.heads = required_size(config, {"n_heads", "num_attention_heads"});
  out.kv_heads = any_integer(config, {"n_kv_heads", "num_key_value_heads"}).value_or(out.heads);
  if (!has_experts(out.family))
    out.mlp_hidden = required_size(config, {"mlp_hidden_size", "intermediate_size"});
  out.vocabulary = required_size(config, {"embedding_size", "vocab_size"});
  out.context = required_size(config, {"max_sequence_length", "max_position_embeddings"});
  read_head_dim(config, out);
  out.norm_eps = positive_number(config, "rms_norm_eps");
  read_rope(config, out);
  if (has_experts(out.family)) read_expert_settings(config, out);
  read_mask(config, out);
  out.tied_head =
      config.boolean("weight_tying").value_or(config.boolean("tie_word_embeddings").value_or(false));

  out.mask_token = optional_token(config, "mask_token_id", out.vocabulary);
  out.bos_token = optional_token(config, "bos_token_id", out.vocabulary);
  out.eos_tokens = token_list(config, "eos_token_id", out.vocabulary);
  if (may_decode_blocks(out.family)) {
    read_block_settings(config, out);
  } else if (has_experts(out.family) && is_masked_diffusion(out.family)) {
    read_published_mask(out);
  } else if (is_masked_diffusion(out.family) && !out.mask_token) {
    config.fail("mask_token_id", "the mask token's id");
  }
  return out;
}

void apply_generation_config(ModelConfig& config, const Json& json, const std::string& name) {
  auto ids = token_list(JsonObject(json, name), "eos_token_id", config.vocabulary);
  if (!ids.empty()) config.eos_tokens = std::move(ids);
}

ModelConfig read_config(const std::filesystem::path& folder) {
  if (!is_folder(folder)) {
    throw_input_error({folder.string(), "a folder with config.json and safetensors weights",
                       path_exists(folder) ? "a file" : "nothing of that name"});
  }
  const auto path = folder / "config.json";
  if (!path_exists(path)) throw_input_error({folder.string(), "a config.json in this folder", "none"});
  ModelConfig config = parse_config(read_json_file(path), path.string());
  const auto generation = folder / "generation_config.json";
  if (path_exists(generation)) {
    apply_generation_config(config, read_json_file(generation), generation.string());
  }
  return config;
}

}  // namespace buoy

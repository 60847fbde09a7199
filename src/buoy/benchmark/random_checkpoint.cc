#include "buoy/benchmark/random_checkpoint.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/model/family.h"
#include "buoy/tensor/dtype.h"
#include "buoy/tensor/normal_numbers.h"

namespace buoy::benchmark {
namespace {

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
};

std::uint64_t bytes_of(const Tensor& tensor) {
  std::uint64_t bytes = sizeof(std::uint16_t);
  for (const auto extent : tensor.shape) bytes *= static_cast<std::uint64_t>(extent);
  return bytes;
}

using AddTensor =
    std::function<void(const std::string& name, const char* kind, std::vector<std::int64_t> shape)>;

void add_mixture(const ModelConfig& c, const model::ExpertNames& names, const AddTensor& add) {
  const ExpertConfig& experts = *c.experts;
  add(names.router, "weight", {experts.count, c.hidden});
  if (experts.bias) add(names.bias, "", {experts.count});
  for (std::int64_t e = 0; e < experts.count; ++e) {
    const std::string prefix = fmt::format("{}.{}.", names.experts, e);
    add(prefix + names.gate, "weight", {experts.width, c.hidden});
    add(prefix + names.up, "weight", {experts.width, c.hidden});
    add(prefix + names.down, "weight", {c.hidden, experts.width});
  }
  if (experts.shared_width == 0) return;
  add(names.shared_gate, "weight", {experts.shared_width, c.hidden});
  add(names.shared_up, "weight", {experts.shared_width, c.hidden});
  add(names.shared_down, "weight", {c.hidden, experts.shared_width});
}

std::vector<Tensor> tensors_of(const ShapeOfModel& s) {
  const ModelConfig config = config_of(s);
  const auto traits = model::traits_of(s.family);
  const std::int64_t queries = s.heads * s.head_dim, keys = s.kv_heads * s.head_dim;
  std::vector<Tensor> tensors = {{traits.embedding, {s.vocabulary, s.hidden}},
                                 {traits.final_norm, {s.hidden}},
                                 {traits.head, {s.vocabulary, s.hidden}}};
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const AddTensor add = [&](const std::string& name, const char* kind, std::vector<std::int64_t> shape) {
      tensors.push_back(
          {fmt::format("{}{}.{}{}{}", traits.layer_prefix, i, name, *kind != 0 ? "." : "", kind),
           std::move(shape)});
    };
    const auto& names = traits.layer;
    add(names.attention_norm, "weight", {s.hidden});
    if (names.fused_qkv.empty()) {
      add(names.query, "weight", {queries, s.hidden});
      add(names.key, "weight", {keys, s.hidden});
      add(names.value, "weight", {keys, s.hidden});
    } else {
      add(names.fused_qkv, "weight", {queries + 2 * keys, s.hidden});
    }
    add(names.attention_out, "weight", {s.hidden, queries});
    add(names.mlp_norm, "weight", {s.hidden});
    if (is_mixture(config, i)) {
      add_mixture(config, traits.mixture, add);
    } else {
      add(names.gate, "weight", {s.mlp_hidden, s.hidden});
      add(names.up, "weight", {s.mlp_hidden, s.hidden});
      add(names.down, "weight", {s.hidden, s.mlp_hidden});
    }
    if (traits.qkv_bias) {
      add(names.query, "bias", {queries});
      add(names.key, "bias", {keys});
      add(names.value, "bias", {keys});
    }
    if (!names.query_norm.empty()) {
      add(names.query_norm, "weight", {s.head_dim});
      add(names.key_norm, "weight", {s.head_dim});
    }
  }
  return tensors;
}

const char* architecture_of(Family family) {
  switch (family) {
    case Family::kLlama:
      return "LlamaForCausalLM";
    case Family::kQwen3:
      return "Qwen3ForCausalLM";
    case Family::kA2dQwen3:
      return "A2DQwen3LMHeadModel";
    case Family::kNemotron:
      return "NemotronLabsDiffusionModel";
    case Family::kSdar:
      return "SDARForCausalLM";
    case Family::kQwen3Moe:
      return "Qwen3MoeForCausalLM";
    default:
      BUOY_CHECK(family == Family::kLlada2);
      return "LLaDA2MoeModelLM";
  }
}

// Routers as the released models have them.
void add_experts(const ShapeOfModel& s, Json& out) {
  out["num_experts"] = s.experts;
  out["num_experts_per_tok"] = s.chosen;
  out["moe_intermediate_size"] = s.expert_width;
  out["norm_topk_prob"] = true;
  if (s.family != Family::kLlada2) return;
  out["num_shared_experts"] = out["first_k_dense_replace"] = 1;
  out["n_group"] = 8;
  out["topk_group"] = 4;
  out["routed_scaling_factor"] = 2.5;
  out["partial_rotary_factor"] = 0.5;
  out["use_bias"] = out["use_qkv_bias"] = false;
}

Json config_json(const ShapeOfModel& s) {
  if (s.family == Family::kLlada) {
    return {{"architectures", {"LLaDAModelLM"}},
            {"d_model", s.hidden},
            {"n_layers", s.layers},
            {"n_heads", s.heads},
            {"n_kv_heads", s.kv_heads},
            {"mlp_hidden_size", s.mlp_hidden},
            {"embedding_size", s.vocabulary},
            {"max_sequence_length", 4096},
            {"rms_norm_eps", 1e-5},
            {"rope_theta", 500000.0},
            {"weight_tying", false},
            {"mask_token_id", s.vocabulary - 1},
            {"eos_token_id", 0}};
  }
  Json out = {{"architectures", {architecture_of(s.family)}},
              {"hidden_size", s.hidden},
              {"num_hidden_layers", s.layers},
              {"num_attention_heads", s.heads},
              {"num_key_value_heads", s.kv_heads},
              {"head_dim", s.head_dim},
              {"intermediate_size", s.mlp_hidden},
              {"vocab_size", s.vocabulary},
              {"max_position_embeddings", 8192},
              {"rms_norm_eps", 1e-5},
              {"rope_theta", 500000.0},
              {"tie_word_embeddings", false},
              {"eos_token_id", 0}};
  if (s.experts > 0) add_experts(s, out);
  if (s.family == Family::kNemotron) {
    out["rope_parameters"] = {{"rope_type", "yarn"},
                              {"rope_theta", 1e6},
                              {"factor", 16.0},
                              {"original_max_position_embeddings", 16384},
                              {"beta_fast", 32.0},
                              {"beta_slow", 1.0},
                              {"llama_4_scaling_beta", 0.1}};
  }
  if (is_masked_diffusion(s.family)) out["mask_token_id"] = s.vocabulary - 1;
  return out;
}

}  // namespace

ShapeOfModel llada_8b() {
  return {Family::kLlada, 4096, 32, 32, 32, 128, 12288, 126464};
}
ShapeOfModel llama_8b() {
  return {Family::kLlama, 4096, 32, 32, 8, 128, 14336, 128256};
}

ShapeOfModel sdar_8b() {
  return {Family::kSdar, 4096, 36, 32, 8, 128, 12288, 151936};
}

ShapeOfModel qwen3_30b_a3b() {
  return {Family::kQwen3Moe, 2048, 48, 32, 4, 128, 6144, 151936, 128, 8, 768};
}

ShapeOfModel llada2_mini() {
  return {Family::kLlada2, 2048, 20, 16, 4, 128, 5120, 157184, 256, 8, 512};
}

ShapeOfModel llada_small() {
  return {Family::kLlada, 256, 12, 8, 8, 32, 768, 4096};
}

const std::vector<std::string>& shape_names() {
  static const std::vector<std::string> names = {"llada-8b",      "llama-8b",    "sdar-8b",
                                                 "qwen3-30b-a3b", "llada2-mini", "llada-small"};
  return names;
}

ShapeOfModel shape_named(const std::string& name) {
  if (name == "llada-8b") return llada_8b();
  if (name == "llama-8b") return llama_8b();
  if (name == "sdar-8b") return sdar_8b();
  if (name == "qwen3-30b-a3b") return qwen3_30b_a3b();
  if (name == "llada2-mini") return llada2_mini();
  BUOY_CHECK(name == "llada-small");
  return llada_small();
}

std::uint64_t random_checkpoint_bytes(const ShapeOfModel& shape) {
  std::uint64_t bytes = 0;
  for (const auto& tensor : tensors_of(shape)) bytes += bytes_of(tensor);
  return bytes;
}

ModelConfig config_of(const ShapeOfModel& shape) {
  return parse_config(config_json(shape), "config of a random checkpoint");
}

void write_random_checkpoint(const std::filesystem::path& folder, const ShapeOfModel& shape,
                             std::uint64_t seed) {
  make_folder(folder);
  write_file_atomically(folder / "config.json", config_json(shape).dump(2));
  const auto tensors = tensors_of(shape);
  nlohmann::ordered_json header;
  std::uint64_t at = 0;
  for (const auto& tensor : tensors) {
    const std::uint64_t bytes = bytes_of(tensor);
    header[tensor.name] = {{"dtype", "BF16"}, {"shape", tensor.shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');

  const auto path = folder / "model.safetensors";
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  const std::uint64_t length = text.size();
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << text;
  NormalNumbers numbers(seed);
  std::vector<std::uint16_t> chunk;
  for (const auto& tensor : tensors) {
    std::int64_t left = 1;
    for (const auto extent : tensor.shape) left *= extent;
    const bool norm = tensor.shape.size() == 1 && tensor.name.ends_with("weight");
    while (left > 0) {
      chunk.resize(static_cast<size_t>(std::min<std::int64_t>(left, 1 << 20)));
      if (norm) {
        std::fill(chunk.begin(), chunk.end(), float_to_bf16(1.0f));
      } else {
        numbers.fill(chunk, 1.0 / std::sqrt(static_cast<double>(tensor.shape.back())));
      }
      out.write(reinterpret_cast<const char*>(chunk.data()), static_cast<std::streamsize>(chunk.size() * 2));
      left -= static_cast<std::int64_t>(chunk.size());
    }
  }
  out.close();
  if (!out) throw IoError(path.string() + ": cannot write");
}

}  // namespace buoy::benchmark

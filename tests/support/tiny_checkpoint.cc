#include "support/tiny_checkpoint.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "buoy/base/random.h"
#include "buoy/tensor/dtype.h"

namespace buoy::testing {
namespace {

constexpr std::int64_t kHidden = 16, kLayers = 2, kHeads = 4, kMlp = 24, kVocabulary = 32;

constexpr const char* kLladaConfig = R"({
    "architectures": ["LLaDAModelLM"], "model_type": "llada", "d_model": 16, "n_layers": 2, "n_heads": 4,
    "n_kv_heads": null, "mlp_hidden_size": 24, "vocab_size": 32, "embedding_size": 32,
    "max_sequence_length": 64, "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "weight_tying": false,
    "mask_token_id": 30, "eos_token_id": 29})";

constexpr const char* kTransformersConfig = R"({
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 24, "vocab_size": 32, "max_position_embeddings": 64, "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0, "tie_word_embeddings": false, "eos_token_id": 29})";

Json config_of(Family family) {
  if (family == Family::kLlada) return parse_json(kLladaConfig, "tiny config");
  Json config = parse_json(kTransformersConfig, "tiny config");
  const char* architecture = family == Family::kDream   ? "DreamModel"
                             : family == Family::kLlama ? "LlamaForCausalLM"
                             : family == Family::kQwen2 ? "Qwen2ForCausalLM"
                                                        : "Qwen3ForCausalLM";
  config["architectures"].push_back(architecture);
  if (family == Family::kDream) config["mask_token_id"] = 30;
  if (family == Family::kQwen3) config["head_dim"] = 8;
  if (family == Family::kQwen3) config["tie_word_embeddings"] = true;
  return config;
}

// Fills tensors with small random numbers; vectors lie around one, as norms do.
class Filler {
 public:
  Filler(std::vector<TinyTensor>& tensors, std::string_view dtype) : tensors_(tensors), dtype_(dtype) {}

  void add(const std::string& name, const std::vector<std::int64_t>& shape) {
    TinyTensor tensor{name, dtype_, shape, ""};
    std::int64_t count = 1;
    for (const auto extent : shape) count *= extent;
    const auto number = static_cast<std::uint32_t>(tensors_.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const double draw = normal(1, {DrawStream::kWeights, 0, number, static_cast<std::uint32_t>(i)});
      const auto value = static_cast<float>((shape.size() == 1 ? 1.0 : 0.0) + 0.1 * draw);
      const std::uint16_t half = float_to_bf16(value);
      char bytes[4];
      std::memcpy(bytes, &value, 4);
      if (dtype_ == "BF16") std::memcpy(bytes, &half, 2);
      tensor.bytes.append(bytes, dtype_ == "BF16" ? 2 : 4);
    }
    tensors_.push_back(std::move(tensor));
  }

 private:
  std::vector<TinyTensor>& tensors_;
  std::string dtype_;
};

void add_llada(Filler& filler) {
  filler.add("model.transformer.wte.weight", {kVocabulary, kHidden});
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string block = fmt::format("model.transformer.blocks.{}.", i);
    filler.add(block + "attn_norm.weight", {kHidden});
    for (const char* name : {"q_proj", "k_proj", "v_proj", "attn_out"}) {
      filler.add(block + name + ".weight", {kHidden, kHidden});
    }
    filler.add(block + "ff_norm.weight", {kHidden});
    filler.add(block + "ff_proj.weight", {kMlp, kHidden});
    filler.add(block + "up_proj.weight", {kMlp, kHidden});
    filler.add(block + "ff_out.weight", {kHidden, kMlp});
  }
  filler.add("model.transformer.ln_f.weight", {kHidden});
  filler.add("model.transformer.ff_out.weight", {kVocabulary, kHidden});
}

void add_transformers(Filler& filler, Family family) {
  const bool bias = family == Family::kDream || family == Family::kQwen2;
  const std::int64_t head_dim = family == Family::kQwen3 ? 8 : 4;
  filler.add("model.embed_tokens.weight", {kVocabulary, kHidden});
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string layer = fmt::format("model.layers.{}.", i);
    filler.add(layer + "input_layernorm.weight", {kHidden});
    for (const char* name : {"q_proj", "k_proj", "v_proj"}) {
      const std::int64_t outputs = (name[0] == 'q' ? kHeads : 2) * head_dim;
      filler.add(layer + "self_attn." + name + ".weight", {outputs, kHidden});
      if (bias) filler.add(layer + "self_attn." + name + ".bias", {outputs});
    }
    filler.add(layer + "self_attn.o_proj.weight", {kHidden, kHeads * head_dim});
    if (family == Family::kQwen3) {
      filler.add(layer + "self_attn.q_norm.weight", {head_dim});
      filler.add(layer + "self_attn.k_norm.weight", {head_dim});
    }
    filler.add(layer + "post_attention_layernorm.weight", {kHidden});
    filler.add(layer + "mlp.gate_proj.weight", {kMlp, kHidden});
    filler.add(layer + "mlp.up_proj.weight", {kMlp, kHidden});
    filler.add(layer + "mlp.down_proj.weight", {kHidden, kMlp});
  }
  filler.add("model.norm.weight", {kHidden});
  if (family != Family::kQwen3) filler.add("lm_head.weight", {kVocabulary, kHidden});
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void append(RawSafetensors& file, const TinyTensor& tensor) {
  Json& entry = file.header[tensor.name];
  entry["dtype"] = tensor.dtype;
  entry["shape"] = tensor.shape;
  entry["data_offsets"].push_back(file.data.size());
  file.data += tensor.bytes;
  entry["data_offsets"].push_back(file.data.size());
}

}  // namespace

std::string raw_safetensors(std::string_view header, std::string_view data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i));
  return bytes.append(header).append(data);
}

std::string to_text(const Json& json) {
  return json.dump();
}

std::string RawSafetensors::bytes(size_t remainder) const {
  std::string text = to_text(header);
  while (text.size() % 8 != remainder) text += ' ';
  return raw_safetensors(text, data);
}

std::string shard_name(size_t number, size_t shards) {
  return fmt::format("model-{:05}-of-{:05}.safetensors", number, shards);
}

TinyCheckpoint::TinyCheckpoint(Family family, std::string_view dtype) : config(config_of(family)) {
  Filler filler(tensors, dtype);
  if (family == Family::kLlada) {
    add_llada(filler);
  } else {
    add_transformers(filler, family);
  }
}

TinyTensor& TinyCheckpoint::tensor(const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
  if (found == tensors.end()) throw std::runtime_error("the tiny checkpoint has no " + name);
  return *found;
}

void TinyCheckpoint::remove(const std::string& name) {
  const TinyTensor* found = &tensor(name);
  tensors.erase(tensors.begin() + (found - tensors.data()));
}

RawSafetensors TinyCheckpoint::raw() const {
  RawSafetensors file;
  for (const auto& tensor : tensors) append(file, tensor);
  return file;
}

void TinyCheckpoint::write_configs(const std::filesystem::path& folder) const {
  write_file(folder / "config.json", to_text(config));
  if (generation_config) write_file(folder / "generation_config.json", to_text(*generation_config));
}

void TinyCheckpoint::write(const std::filesystem::path& folder, size_t header_remainder) const {
  write_configs(folder);
  write_file(folder / "model.safetensors", raw().bytes(header_remainder));
}

Json TinyCheckpoint::index(size_t shards) const {
  Json index;
  index["metadata"]["total_size"] = raw().data.size();
  for (size_t i = 0; i < tensors.size(); ++i) {
    index["weight_map"][tensors[i].name] = shard_name(i % shards + 1, shards);
  }
  return index;
}

void TinyCheckpoint::write_sharded(const std::filesystem::path& folder, size_t shards) const {
  write_configs(folder);
  write_file(folder / "model.safetensors.index.json", to_text(index(shards)));
  for (size_t shard = 0; shard < shards; ++shard) {
    RawSafetensors file;
    for (size_t i = shard; i < tensors.size(); i += shards) append(file, tensors[i]);
    write_file(folder / shard_name(shard + 1, shards), file.bytes());
  }
}

}  // namespace buoy::testing

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/file/json_file.h"

namespace buoy {

enum class Family { kLlada, kDream, kLlama, kQwen2, kQwen3 };

std::string_view name_of(Family family);  // "LLaDA", "Dream", ...
bool is_masked_diffusion(Family family);

// Which keys a query sees: those up to itself; those and the whole prompt; all.
enum class AttentionMaskKind { kCausal, kPrefix, kFull };

std::string_view name_of(AttentionMaskKind mask);  // as config.json spells it: "causal", "prefix", "full"

// Llama 3.1's fixed stretching of low rotary frequencies.
struct Llama3RopeScaling {
  double factor;
  double low_freq_factor;
  double high_freq_factor;
  double original_context;
};

struct RopeConfig {
  double theta = 10000.0;
  std::int64_t rotary_dim = 0;  // leading dimensions of a head that rotate
  std::optional<Llama3RopeScaling> scaling;
};

// config.json (and generation_config.json), whatever key names the family uses.
struct ModelConfig {
  Family family;
  std::string architecture;  // as written in the file
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t mlp_hidden = 0;
  std::int64_t vocabulary = 0;  // rows of the embedding
  std::int64_t context = 0;     // longest sequence the model was made for
  double norm_eps = 0;
  RopeConfig rope;
  bool tied_head = false;
  std::optional<AttentionMaskKind> stated_mask;  // attention_mask_kind; ask mask_of()

  std::optional<std::int32_t> mask_token;
  std::optional<std::int32_t> bos_token;
  std::vector<std::int32_t> eos_tokens;
};

// The mask the file states, else that of the family: full for masked diffusion, causal for the others.
AttentionMaskKind mask_of(const ModelConfig& config);

// `name` is the file named in errors. Refuses every architecture and setting Buoy would compute wrongly.
ModelConfig parse_config(const Json& json, const std::string& name);

// Overrides the end-of-sequence tokens with those of generation_config.json.
void apply_generation_config(ModelConfig& config, const Json& json, const std::string& name);

ModelConfig read_config(const std::filesystem::path& folder);

}  // namespace buoy

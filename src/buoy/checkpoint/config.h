#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/file/json_file.h"
#include "buoy/checkpoint/expert_config.h"

namespace buoy {

enum class Family {
  kLlada,
  kDream,
  kLlama,
  kQwen2,
  kQwen3,
  kA2dQwen3,
  kA2dQwen2,
  kSdar,
  kFastDllm,
  kNemotron,
  kQwen3Moe,
  kMixtral,
  kLladaMoe,
  kSdarMoe,
  kRnd1,
  kLlada2,
};

std::string_view name_of(Family family);  // "LLaDA", "Dream", ...
bool is_masked_diffusion(Family family);
// Decodes blocks from left to right over the keys and values of finished ones; of A2D models, that depends on
// what they were trained for, which their config does not say.
bool may_decode_blocks(Family family);
bool is_a2d(Family family);
// Reads the next token as well as masks, by the same weights: what it decodes with is asked for.
bool has_two_readings(Family family);

// Some models with this architecture predict masks though they carry a next-token model's name
// (Open-dCoder): they are run as such where somebody asks for it.
bool may_be_masked_diffusion(Family family);
bool has_experts(Family family);

// Which keys a query sees: those up to itself; those and the whole prompt; all; those up to the end of its
// block.
enum class AttentionMaskKind { kCausal, kPrefix, kFull, kBlocks };

// As config.json spells it: "causal", "prefix", "full"; "blocks" no config states, the family has it.
std::string_view name_of(AttentionMaskKind mask);

// Llama 3.1's fixed stretching of low rotary frequencies.
struct Llama3RopeScaling {
  double factor;
  double low_freq_factor;
  double high_freq_factor;
  double original_context;
};

// YaRN's frequencies, and queries that grow with their position.
struct YarnRopeScaling {
  double factor;
  double original_context;
  double beta_fast;
  double beta_slow;
  // On cosines and sines: stated, or from these two.
  std::optional<double> attention_factor, mscale, mscale_all_dim;
  double query_beta;  // queries: times 1 + query_beta ln(1 + floor(position / original_context))
};

struct RopeConfig {
  double theta = 10000.0;
  std::int64_t rotary_dim = 0;  // leading dimensions of a head that rotate
  std::optional<Llama3RopeScaling> scaling;
  std::optional<YarnRopeScaling> yarn;
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
  std::int64_t mlp_hidden = 0;  // of layers without experts
  std::int64_t vocabulary = 0;  // rows of the embedding
  std::int64_t context = 0;     // longest sequence the model was made for
  double norm_eps = 0;
  RopeConfig rope;
  bool tied_head = false;
  std::optional<ExpertConfig> experts;
  std::optional<AttentionMaskKind> stated_mask;  // attention_mask_kind; ask mask_of()
  // Positions of a block: what the file states, else what the publisher's models without the key have.
  std::optional<std::int64_t> block_length;
  bool states_block_length = false;

  std::optional<std::int32_t> mask_token;  // stated, or the family's where its configs have none
  std::optional<std::int32_t> bos_token;
  std::vector<std::int32_t> eos_tokens;
};

// The mask the file states, else that of the family: blocks where it has no other reading, else full for
// masked diffusion, causal for the others and for those with two readings. (A2D models and the latter may be
// run with blocks all the same: SequenceInput::grid.)
AttentionMaskKind mask_of(const ModelConfig& config);

// Whether the MLP of a layer is a mixture of experts, and the width of the widest plain MLP, shared experts
// included; 0: there is none.
bool is_mixture(const ModelConfig& config, std::int64_t layer);
std::int64_t widest_mlp(const ModelConfig& config);

// `name` is the file named in errors. Refuses every architecture and setting Buoy would compute wrongly.
ModelConfig parse_config(const Json& json, const std::string& name);

// Overrides the end-of-sequence tokens with those of generation_config.json.
void apply_generation_config(ModelConfig& config, const Json& json, const std::string& name);

ModelConfig read_config(const std::filesystem::path& folder);

}  // namespace buoy

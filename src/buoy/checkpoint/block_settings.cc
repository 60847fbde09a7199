#include "buoy/checkpoint/block_settings.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"

namespace buoy {
namespace {

// What the publishers' models have where the file says nothing. An id is that of the parent's tokenizer: the
// same number is another token in a sister's table, so each family has its own.
struct FamilyDefaults {
  const char* block_key;      // null: the config never says
  std::int64_t block_length;  // 0: none
  std::int32_t mask_token;
};

FamilyDefaults defaults_of(Family family) {
  switch (family) {
    case Family::kSdar:
    case Family::kSdarMoe:
      return {"block_size", 4, 151669};
    case Family::kFastDllm:
      return {"bd_size", 32, 151665};
    case Family::kNemotron:
      return {"block_size", 32, 100};
    case Family::kLlada2:
      return {nullptr, 32, 156895};
    case Family::kLladaMoe:
      return {nullptr, 0, 156895};
    case Family::kA2dQwen2:
      return {nullptr, 0, 151665};
    default:
      return {nullptr, 0, 151669};
  }
}

}  // namespace

void read_block_settings(const JsonObject& config, ModelConfig& out) {
  // A prompt that is token-causal before blocks, and tokens that insert or delete: other models.
  if (config.boolean("use_regular_causal").value_or(false))
    config.fail("use_regular_causal", "false: the prompt, too, is attended in blocks");
  for (const char* key : {"delete_token_id", "split_token_id", "expert_capacity", "image_token_offset"}) {
    if (config.has(key)) config.fail(key, fmt::format("no such key in a {}", out.architecture));
  }
  if (out.family == Family::kNemotron) {
    // Trained otherwise, it would be decoded wrongly.
    if (const auto paradigm = config.text("dlm_paradigm"); paradigm && *paradigm != "bidirectional")
      config.fail("dlm_paradigm", "\"bidirectional\"");
    if (config.has("sliding_window")) config.fail("sliding_window", "null: every layer sees all tokens");
  }
  const FamilyDefaults defaults = defaults_of(out.family);
  if (defaults.block_key != nullptr) {
    out.block_length = config.integer(defaults.block_key);
    out.states_block_length = out.block_length.has_value();
    if (out.block_length && (*out.block_length < 1 || *out.block_length > out.context))
      config.fail(defaults.block_key, fmt::format("a block length from 1 to {}", out.context));
  }
  if (!out.block_length && defaults.block_length > 0) out.block_length = defaults.block_length;
  read_published_mask(out);
}

void read_published_mask(ModelConfig& out) {
  const std::int32_t token = defaults_of(out.family).mask_token;
  if (!out.mask_token && token < out.vocabulary) out.mask_token = token;
}

}  // namespace buoy

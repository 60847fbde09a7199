#include "buoy/run/decoding.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/decode/autoregressive.h"
#include "buoy/decode/block_families.h"
#include "buoy/decode/dream.h"
#include "buoy/decode/llada.h"
#include "buoy/questions/score/metrics.h"

namespace buoy::run {
namespace {

// Where LLaDA's released vocabulary keeps the end of a turn; its config does not say.
constexpr std::int32_t kLladaEndOfTurn = 126348;

std::optional<std::int32_t> end_of_turn(const ModelConfig& config, const DecodeOptions& options,
                                        const std::optional<text::Tokenizer>& tokenizer) {
  if (options.eot_token) return options.eot_token;
  if (tokenizer) {
    for (const char* literal : {"<|eot_id|>", "<|im_end|>"}) {
      if (const auto id = tokenizer->token_id(literal)) return id;
    }
  }
  if (config.family == Family::kLlada && config.vocabulary > kLladaEndOfTurn) return kLladaEndOfTurn;
  return std::nullopt;
}

std::vector<std::int32_t> eos_tokens(const ModelConfig& config, const DecodeOptions& options) {
  return options.eos_tokens.empty() ? config.eos_tokens : options.eos_tokens;
}

// The options with the tokens that the config and the tokenizer know.
DecodeOptions with_tokens(const ModelConfig& config, DecodeOptions options,
                          std::optional<std::int32_t> end_of_turn) {
  if (!options.mask_token) options.mask_token = config.mask_token;
  options.eos_tokens = eos_tokens(config, options);
  options.eot_token = end_of_turn;
  return options;
}

// A2D models that do not decode blocks take LLaDA's loop.
bool uses_llada_loop(const ModelConfig& config) {
  return config.family == Family::kLlada || config.family == Family::kLladaMoe || is_a2d(config.family);
}

// Configs of some families never name it, and the publisher's id may lie beyond a vocabulary.
void require_mask(const ModelConfig& config, const DecodeOptions& options) {
  if (options.mask_token) return;
  throw_usage_error(
      {field_name("mask_token"),
       fmt::format(
           "an id: config.json has no mask_token_id, and the one of published {} models is none of {} tokens",
           name_of(config.family), config.vocabulary),
       "none"});
}

}  // namespace

void check_decoding(const ModelConfig& config, const DecodeOptions& o) {
  decode::check_options(config, o);
  // Which token ends a turn only the tokenizer knows.
  const auto options = with_tokens(config, o, o.eot_token.value_or(0));
  if (decode::decodes_blocks(config, o)) {
    require_mask(config, options);
    const auto block = decode::block_options(config, options);
    decode::check_options(block);
    if (block.seeds_blocks && block.max_new_tokens < block.block_length) {
      throw_usage_error({field_name("max_new_tokens"),
                         fmt::format("at least {}, a block: {} decodes whole ones", block.block_length,
                                     name_of(config.family)),
                         std::to_string(block.max_new_tokens)});
    }
  } else if (uses_llada_loop(config)) {
    require_mask(config, options);
    decode::check_options(decode::llada_options(options));
  } else if (config.family == Family::kDream) {
    decode::check_options(decode::dream_options(options));
  } else {
    decode::check_options(decode::autoregressive_options(options));
  }
}

void check_mask_token(const ModelConfig& config, const DecodeOptions& given,
                      const std::optional<text::Tokenizer>& tokenizer) {
  if (!may_decode_blocks(config.family) || given.mask_token || !tokenizer || !config.mask_token) return;
  if (!tokenizer->has_token(*config.mask_token)) {
    throw_usage_error(
        {field_name("mask_token"),
         fmt::format("an id: the one of {} models is no token of the tokenizer here", name_of(config.family)),
         std::to_string(*config.mask_token)});
  }
}

std::unique_ptr<decode::StepMachine> make_machine(const model::Model& model, const DecodeOptions& o,
                                                  std::span<const std::int32_t> prompt,
                                                  const std::optional<text::Tokenizer>& tokenizer,
                                                  std::optional<model::KvCache> cache) {
  const ModelConfig& config = model.config();
  check_decoding(config, o);
  check_mask_token(config, o, tokenizer);
  const auto length = static_cast<std::int64_t>(prompt.size()) + o.max_new_tokens;
  if (length > config.context && !o.allow_long) {
    throw_usage_error(
        {"prompt",
         fmt::format("at most {} tokens with the answer, the model's context ({} goes on beyond it)",
                     config.context, field_name("allow_long")),
         fmt::format("{} and {} for the answer", prompt.size(), o.max_new_tokens)});
  }
  const auto options = with_tokens(config, o, end_of_turn(config, o, tokenizer));
  if (decode::decodes_blocks(config, options)) {
    return std::make_unique<decode::BlockMachine>(prompt, decode::block_options(config, options),
                                                  model.new_cache());
  }
  if (uses_llada_loop(config))
    return std::make_unique<decode::LladaMachine>(prompt, decode::llada_options(options));
  if (config.family == Family::kDream)
    return std::make_unique<decode::DreamMachine>(prompt, decode::dream_options(options));
  return std::make_unique<decode::AutoregressiveMachine>(prompt, decode::autoregressive_options(options),
                                                         cache ? std::move(*cache) : model.new_cache());
}

void refuse_observing(const ModelConfig& config, const DecodeOptions& options) {
  if (!may_decode_blocks(config.family)) return;
  if (decode::decodes_blocks(config, options)) {
    throw_usage_error({field_name("model"), "a family that can be observed so while it decodes",
                       fmt::format("{}: it decodes blocks, which `trace` alone records (`keep` full)",
                                   name_of(config.family))});
  }
  if (decode::wants_dllm_schedule(options))
    throw_usage_error({field_name("schedule"), "quota where forwards are observed", "\"dllm\""});
}

std::uint64_t forwards_of(Family family, const DecodeOptions& o) {
  if (!is_masked_diffusion(family)) return static_cast<std::uint64_t>(o.max_new_tokens);
  // One for each token at most, and one to store a block; blocks have at least one token each.
  if (family == Family::kSdar || family == Family::kSdarMoe || family == Family::kFastDllm)
    return 2 * static_cast<std::uint64_t>(o.max_new_tokens);
  const auto steps = static_cast<std::uint64_t>(o.steps.value_or(o.max_new_tokens));
  return o.cfg_scale.value_or(0) > 0 ? 2 * steps : steps;
}

std::vector<std::int32_t> end_tokens(const ModelConfig& config, const DecodeOptions& options,
                                     const std::optional<text::Tokenizer>& tokenizer) {
  auto ends = eos_tokens(config, options);
  if (const auto eot = end_of_turn(config, options, tokenizer)) ends.push_back(*eot);
  return ends;
}

std::string answer_text(const text::Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                        const std::vector<std::int32_t>& ends) {
  const auto end = std::find_first_of(ids.begin(), ids.end(), ends.begin(), ends.end());
  return tokenizer.decode(ids.subspan(0, static_cast<size_t>(end - ids.begin())), true);
}

bool is_right(const std::string& answer, const std::vector<std::string>& accepted) {
  return questions::score_answer(answer, accepted, questions::Normalisation::kPublished).substring > 0;
}

}  // namespace buoy::run

#include "buoy/run/decoding.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/decode/autoregressive.h"
#include "buoy/decode/block_families.h"
#include "buoy/decode/dream.h"
#include "buoy/decode/llada.h"
#include "buoy/decode/rnd1.h"
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

// Configs of some families never name it, and the publisher's id may lie beyond a vocabulary.
void require_mask(const ModelConfig& config, const DecodeOptions& options) {
  if (options.mask_token) return;
  if (decode::loop_of(config, options) == decode::kOpenDcoder)
    throw_usage_error({field_name("mask_token"), "an id: config.json has no mask_token_id", "none"});
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
    if (block.seed_rule == decode::BlockSeed::kFollows && block.max_new_tokens < block.block_length) {
      throw_usage_error({field_name("max_new_tokens"),
                         fmt::format("at least {}, a block: {} decodes whole ones", block.block_length,
                                     name_of(config.family)),
                         std::to_string(block.max_new_tokens)});
    }
    return;
  }
  const decode::Loops loop = decode::loop_of(config, o);
  if (loop == decode::kAutoregressive) return decode::check_options(decode::autoregressive_options(options));
  require_mask(config, options);
  if (loop == decode::kLlada) return decode::check_options(decode::llada_options(options));
  if (loop == decode::kDream) return decode::check_options(decode::dream_options(options));
  if (loop == decode::kRnd1) return decode::check_options(decode::rnd1_options(options));
  BUOY_CHECK(loop == decode::kOpenDcoder);
  decode::check_options(decode::open_dcoder_options(options));
  if (mask_of(config) != AttentionMaskKind::kCausal) {
    throw_usage_error({field_name("decoding_rule"), "autoregressive where config.json states a mask",
                       '"' + *o.decoding_rule + '"'});
  }
}

void check_mask_token(const ModelConfig& config, const DecodeOptions& given,
                      const std::optional<text::Tokenizer>& tokenizer) {
  const bool published = may_decode_blocks(config.family) || config.family == Family::kRnd1 ||
                         config.family == Family::kLladaMoe;
  if (!published || given.mask_token || !tokenizer || !config.mask_token) return;
  if (!decode::decodes_masks(config, given)) return;
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
  const decode::Loops loop = decode::loop_of(config, options);
  if (loop == decode::kLlada)
    return std::make_unique<decode::LladaMachine>(prompt, decode::llada_options(options));
  if (loop == decode::kDream)
    return std::make_unique<decode::DreamMachine>(prompt, decode::dream_options(options));
  if (loop == decode::kOpenDcoder)
    return std::make_unique<decode::DreamMachine>(prompt, decode::open_dcoder_options(options));
  if (loop == decode::kRnd1)
    return std::make_unique<decode::Rnd1Machine>(prompt, decode::rnd1_options(options));
  return std::make_unique<decode::AutoregressiveMachine>(prompt, decode::autoregressive_options(options),
                                                         cache ? std::move(*cache) : model.new_cache());
}

void refuse_observing(const ModelConfig& config, const DecodeOptions& options) {
  const decode::Loops loop = decode::loop_of(config, options);
  if ((loop & decode::kBlocks) != 0) {
    throw_usage_error({field_name("model"), "a family whose single steps can be observed from outside",
                       fmt::format("{}: it decodes blocks, and how many forwards it takes is known when it "
                                   "has run",
                                   name_of(config.family))});
  }
  if (decode::wants_dllm_schedule(options))
    throw_usage_error({field_name("schedule"), "quota where forwards are observed", "\"dllm\""});
  if (loop == decode::kOpenDcoder) {
    const std::string order = options.algorithm.value_or("entropy");
    if (order == "p2" || order == "origin") {
      throw_usage_error(
          {field_name("algorithm"),
           "one that keeps what it reveals, in as many steps as were asked for, where forwards are "
           "observed",
           '"' + order + '"'});
    }
  }
  if (loop != decode::kRnd1) return;
  if (options.entropy_bound)
    throw_usage_error({field_name("entropy_bound"), "none where forwards are observed", "one"});
  if (options.steps.value_or(0) > options.max_new_tokens) {
    throw_usage_error({field_name("steps"),
                       fmt::format("at most {}, a step for each token, where forwards are observed",
                                   options.max_new_tokens),
                       std::to_string(*options.steps)});
  }
}

std::uint64_t forwards_of(Family family, const DecodeOptions& o) {
  const auto tokens = static_cast<std::uint64_t>(o.max_new_tokens);
  const decode::Loops loops = decode::loops_of(family, o) & decode::kAll;
  if (loops == decode::kAutoregressive) return tokens;
  // Behind the last mask of a block come steps that edit; blocks have at least one token each.
  constexpr std::uint64_t kPostSteps = decode::BlockEditing{}.most_post_steps;
  if ((loops & decode::kLlada21) != 0) {
    const auto post = o.max_post_steps ? static_cast<std::uint64_t>(*o.max_post_steps) : kPostSteps;
    return tokens * (2 + post);
  }
  // One for each token at most, and one to store a block.
  if ((loops & decode::kBlocks) != 0 && (loops & decode::kBd3lm) == 0) return 2 * tokens;
  const auto steps = static_cast<std::uint64_t>(o.steps.value_or(o.max_new_tokens));
  return o.cfg_scale.value_or(0) > 0 ? 2 * steps : steps;
}

std::int64_t most_forwards(const ModelConfig& config, const DecodeOptions& o) {
  if (!decode::decodes_blocks(config, o)) return o.steps.value_or(o.max_new_tokens);
  // Each token may take a step and end a block, which is stored; the prompt is, too.
  return static_cast<std::int64_t>(std::max<std::uint64_t>(
             forwards_of(config.family, o), 2 * static_cast<std::uint64_t>(o.max_new_tokens))) +
         2;
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

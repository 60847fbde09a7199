#include "buoy/run/decoding.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/decode/autoregressive.h"
#include "buoy/decode/dream.h"
#include "buoy/decode/llada.h"

namespace buoy::run {
namespace {

// Where LLaDA's released vocabulary keeps the end of a turn; its config does not say.
constexpr std::int32_t kLladaEndOfTurn = 126348;
constexpr std::int32_t kMostTokens = 1 << 20;  // beyond every context

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

void check_token(const char* option, std::int32_t id, const ModelConfig& config) {
  if (id < 0 || id >= config.vocabulary) {
    throw_usage_error({option, fmt::format("an id from 0 to {}", config.vocabulary - 1), std::to_string(id)});
  }
}

struct Belongs {
  const char* option;
  bool given;
  const char* families;
  bool fits;
};

void refuse_foreign_options(Family family, const DecodeOptions& o) {
  const bool llada = family == Family::kLlada, dream = family == Family::kDream, ar = !llada && !dream;
  const Belongs table[] = {
      {"--steps", o.steps.has_value(), "LLaDA and Dream", llada || dream},
      {"--block-length", o.block_length.has_value(), "LLaDA", llada},
      {"--algorithm", o.algorithm.has_value(), "LLaDA and Dream", llada || dream},
      {"--mask-token-id", o.mask_token.has_value(), "LLaDA and Dream", llada || dream},
      {"--cfg-scale", o.cfg_scale.has_value(), "LLaDA", llada},
      {"--logits-eos-inf", o.logits_eos_inf, "LLaDA", llada},
      {"--confidence-eos-eot-inf", o.confidence_eos_eot_inf, "LLaDA", llada},
      {"--top-p", o.top_p.has_value(), "Dream and autoregressive models", dream || ar},
      {"--top-k", o.top_k.has_value(), "Dream and autoregressive models", dream || ar},
      {"--alg-temp", o.alg_temp.has_value(), "Dream", dream},
      {"--eps", o.eps.has_value(), "Dream", dream},
      {"--repetition-penalty", o.repetition_penalty.has_value(), "autoregressive models", ar}};
  for (const auto& row : table) {
    if (row.given && !row.fits) {
      throw_usage_error({row.option, fmt::format("a model it belongs to ({})", row.families),
                         std::string(name_of(family))});
    }
  }
}

[[noreturn]] void unknown_algorithm(const char* known, const std::string& found) {
  throw_usage_error({"--algorithm", fmt::format("one of {}", known), '"' + found + '"'});
}

decode::LladaOrder llada_order(const std::string& name) {
  if (name == "low_confidence") return decode::LladaOrder::kLowConfidence;
  if (name == "random") return decode::LladaOrder::kRandom;
  unknown_algorithm("low_confidence, random", name);
}

decode::DreamAlgorithm dream_algorithm(const std::string& name) {
  if (name == "origin") return decode::DreamAlgorithm::kOrigin;
  if (name == "maskgit_plus") return decode::DreamAlgorithm::kMaskgitPlus;
  if (name == "topk_margin") return decode::DreamAlgorithm::kTopkMargin;
  if (name == "entropy") return decode::DreamAlgorithm::kEntropy;
  unknown_algorithm("origin, maskgit_plus, topk_margin, entropy", name);
}

decode::LladaOptions llada_options(const ModelConfig& config, const DecodeOptions& o) {
  decode::LladaOptions options;
  options.max_new_tokens = o.max_new_tokens;
  options.steps = o.steps.value_or(o.max_new_tokens);
  options.block_length = o.block_length.value_or(o.max_new_tokens);
  options.order = llada_order(o.algorithm.value_or("low_confidence"));
  options.temperature = o.temperature;
  options.cfg_scale = o.cfg_scale.value_or(0);
  options.logits_eos_inf = o.logits_eos_inf;
  options.confidence_eos_eot_inf = o.confidence_eos_eot_inf;
  options.mask_token = o.mask_token.value_or(*config.mask_token);
  if (const auto eos = eos_tokens(config, o); !eos.empty()) options.eos_token = eos.front();
  options.seed = o.seed;
  return options;
}

decode::DreamOptions dream_options(const ModelConfig& config, const DecodeOptions& o) {
  decode::DreamOptions options;
  options.max_new_tokens = o.max_new_tokens;
  options.steps = o.steps.value_or(o.max_new_tokens);
  options.algorithm = dream_algorithm(o.algorithm.value_or("origin"));
  options.temperature = o.temperature;
  options.top_p = o.top_p;
  options.top_k = o.top_k;
  options.alg_temp = o.alg_temp.value_or(0);
  options.eps = o.eps.value_or(1e-3);
  options.mask_token = o.mask_token.value_or(*config.mask_token);
  options.seed = o.seed;
  return options;
}

decode::AutoregressiveOptions autoregressive_options(const ModelConfig& config, const DecodeOptions& o) {
  decode::AutoregressiveOptions options;
  options.max_new_tokens = o.max_new_tokens;
  options.temperature = o.temperature;
  options.top_k = o.top_k;
  options.top_p = o.top_p;
  options.repetition_penalty = o.repetition_penalty.value_or(1);
  options.eos_tokens = eos_tokens(config, o);
  options.seed = o.seed;
  return options;
}

}  // namespace

void check_decoding(const ModelConfig& config, const DecodeOptions& o) {
  refuse_foreign_options(config.family, o);
  for (const auto id : o.eos_tokens) check_token("--eos-token-id", id, config);
  if (o.eot_token) check_token("--eot-token-id", *o.eot_token, config);
  if (o.mask_token) check_token("--mask-token-id", *o.mask_token, config);
  if (o.max_new_tokens < 1)
    throw_usage_error({"--max-new-tokens", "at least 1", std::to_string(o.max_new_tokens)});
  if (o.max_new_tokens > kMostTokens)
    throw_usage_error(
        {"--max-new-tokens", fmt::format("at most {}", kMostTokens), std::to_string(o.max_new_tokens)});
  if (config.family == Family::kLlada) {
    auto options = llada_options(config, o);
    options.eot_token = o.eot_token.value_or(0);  // which one only the tokenizer knows
    decode::check_options(options);
  } else if (config.family == Family::kDream) {
    decode::check_options(dream_options(config, o));
  } else {
    decode::check_options(autoregressive_options(config, o));
  }
}

std::unique_ptr<decode::StepMachine> make_machine(const model::Model& model, const DecodeOptions& o,
                                                  std::span<const std::int32_t> prompt,
                                                  const std::optional<text::Tokenizer>& tokenizer,
                                                  std::optional<model::KvCache> cache) {
  const ModelConfig& config = model.config();
  check_decoding(config, o);
  const auto length = static_cast<std::int64_t>(prompt.size()) + o.max_new_tokens;
  if (length > config.context && !o.allow_long) {
    throw_usage_error(
        {"prompt",
         fmt::format("at most {} tokens with the answer, the model's context (--allow-long goes "
                     "on beyond it)",
                     config.context),
         fmt::format("{} and {} for the answer", prompt.size(), o.max_new_tokens)});
  }
  if (config.family == Family::kLlada) {
    auto options = llada_options(config, o);
    options.eot_token = end_of_turn(config, o, tokenizer);
    return std::make_unique<decode::LladaMachine>(prompt, options);
  }
  if (config.family == Family::kDream)
    return std::make_unique<decode::DreamMachine>(prompt, dream_options(config, o));
  return std::make_unique<decode::AutoregressiveMachine>(prompt, autoregressive_options(config, o),
                                                         cache ? std::move(*cache) : model.new_cache());
}

DecodeOptions fitting(Family family, DecodeOptions o) {
  const bool llada = family == Family::kLlada, dream = family == Family::kDream;
  if (!llada) {
    o.block_length.reset(), o.cfg_scale.reset();
    o.logits_eos_inf = o.confidence_eos_eot_inf = false;
  }
  if (!dream) o.alg_temp.reset(), o.eps.reset();
  if (!llada && !dream) {
    o.steps.reset(), o.algorithm.reset(), o.mask_token.reset();
  } else {
    o.repetition_penalty.reset();
  }
  if (llada) o.top_p.reset(), o.top_k.reset();
  return o;
}

std::uint64_t forwards_of(Family family, const DecodeOptions& o) {
  if (!is_masked_diffusion(family)) return static_cast<std::uint64_t>(o.max_new_tokens);
  const auto steps = static_cast<std::uint64_t>(o.steps.value_or(o.max_new_tokens));
  return o.cfg_scale.value_or(0) > 0 ? 2 * steps : steps;
}

std::vector<std::int32_t> end_tokens(const model::Model& model, const DecodeOptions& options,
                                     const std::optional<text::Tokenizer>& tokenizer) {
  auto ends = eos_tokens(model.config(), options);
  if (const auto eot = end_of_turn(model.config(), options, tokenizer)) ends.push_back(*eot);
  return ends;
}

std::string answer_text(const text::Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                        const std::vector<std::int32_t>& ends) {
  const auto end = std::find_first_of(ids.begin(), ids.end(), ends.begin(), ends.end());
  return tokenizer.decode(ids.subspan(0, static_cast<size_t>(end - ids.begin())), true);
}

}  // namespace buoy::run

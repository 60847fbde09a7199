#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "buoy/model/model.h"

namespace buoy::decode {

// Decoding options as given; what was not given keeps the family's default, and what does not belong to the
// family is refused rather than ignored. Every field has a row in kDecodeOptions below.
struct DecodeOptions {
  std::int32_t max_new_tokens = 128;
  std::uint64_t seed = 0;
  double temperature = 0;
  bool allow_long = false;
  std::optional<std::string> decoding_rule;
  std::optional<std::int32_t> steps, block_length, steps_per_block, sub_block_length;
  std::optional<std::string> algorithm;
  std::optional<double> threshold;
  std::optional<std::string> schedule;
  bool shifted_rows = false, block_cache = false, bidirectional_context = false;
  std::optional<double> editing_threshold;
  std::optional<std::int32_t> max_post_steps, num_to_transfer, minimal_topk;
  std::optional<double> repeat_penalty;
  bool eos_early_stop = false;
  std::optional<double> entropy_bound, entropy_temperature;
  std::optional<double> alg_temp, eps, cfg_scale;
  bool logits_eos_inf = false, confidence_eos_eot_inf = false;
  std::optional<double> top_p;
  std::optional<std::int64_t> top_k;
  std::optional<double> repetition_penalty;
  std::optional<std::int32_t> mask_token;
  std::vector<std::int32_t> eos_tokens;
  std::optional<std::int32_t> eot_token;
};

// Which decoding loops take an option.
using Loops = unsigned;
inline constexpr Loops kLlada = 1, kDream = 2, kAutoregressive = 4, kBd3lm = 8, kSdar = 16, kFastDllm = 32;
inline constexpr Loops kNemotron = 64, kLlada2 = 128, kLlada21 = 256, kRnd1 = 512, kOpenDcoder = 1024;
// Beside the loop of its rule: what the config does not decide (decoding_rule.h).
inline constexpr Loops kAsksForRule = 2048;
inline constexpr Loops kBlocks = kBd3lm | kSdar | kFastDllm | kNemotron | kLlada2 | kLlada21;
inline constexpr Loops kDiffusion = kLlada | kDream | kRnd1 | kOpenDcoder | kBlocks,
                       kAll = kDiffusion | kAutoregressive;

inline constexpr Loops kFilters = kDream | kAutoregressive | kSdar | kLlada2 | kLlada21 | kRnd1 | kOpenDcoder;

// What a value must be. Numbers are finite in any case.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool above_least = false, below_most = false;  // the end itself is refused
  bool token = false;                            // an id of the model's vocabulary
};
inline constexpr Bounds kAny{}, kFromOne{.least = 1}, kNotNegative{.least = 0},
    kPositive{.least = 0, .above_least = true}, kToken{.token = true};
inline constexpr Bounds kAnswerLength{.least = 1, .most = 1 << 20};  // beyond every context
inline constexpr Bounds kProbability{.least = 0, .most = 1, .above_least = true};
inline constexpr Bounds kInsideOne{.least = 0, .most = 1, .above_least = true, .below_most = true};

// The whole numbers within bounds, as far as `Integer` holds them. The vocabulary bounds tokens from above,
// and that is the model's.
template <typename Integer>
struct WholeNumbers {
  Integer least = std::numeric_limits<Integer>::min(), most = std::numeric_limits<Integer>::max();
};
template <typename Integer>
WholeNumbers<Integer> whole_numbers(const Bounds& bounds) {
  const double least = bounds.token         ? 0
                       : bounds.above_least ? std::floor(bounds.least) + 1
                                            : std::ceil(bounds.least);
  const double most = bounds.below_most ? std::ceil(bounds.most) - 1 : std::floor(bounds.most);
  WholeNumbers<Integer> out;
  // The largest 64-bit numbers round up as doubles: only what lies surely inside is converted.
  if (least > static_cast<double>(out.least)) out.least = static_cast<Integer>(least);
  if (most < static_cast<double>(out.most)) out.most = static_cast<Integer>(most);
  return out;
}

// How an option enters the identity of a run: under its key among the decoding where it is given
// (is_given()), or apart, under a name of its own.
enum class Identity { kStored, kApart };

using OptionField =
    std::variant<bool DecodeOptions::*, std::int32_t DecodeOptions::*, std::uint64_t DecodeOptions::*,
                 double DecodeOptions::*, std::optional<std::int32_t> DecodeOptions::*,
                 std::optional<std::int64_t> DecodeOptions::*, std::optional<double> DecodeOptions::*,
                 std::optional<std::string> DecodeOptions::*, std::vector<std::int32_t> DecodeOptions::*>;

// All that is known of an option: the command line, studies, identities, refusals and the check of
// docs/command-line.md read these rows. A new option is a field, a row, and the loop that acts on it.
struct DecodeOption {
  std::string_view key;  // in studies, identities and errors
  OptionField field;
  Loops loops;
  Bounds bounds;
  Identity identity;
  std::string_view help;  // a line; the program's help has it in this order
};

inline constexpr std::array kDecodeOptions = {
    DecodeOption{"max_new_tokens", &DecodeOptions::max_new_tokens, kAll, kAnswerLength, Identity::kStored,
                 "tokens to generate (default 128; eval 32)"},
    DecodeOption{"seed", &DecodeOptions::seed, kAll, kAny, Identity::kApart,
                 "of all random draws (default 0; bootstrap and world: 1)"},
    DecodeOption{"temperature", &DecodeOptions::temperature, kAll, kNotNegative, Identity::kStored,
                 "0 is greedy (default)"},
    DecodeOption{"allow_long", &DecodeOptions::allow_long, kAll, kAny, Identity::kStored,
                 "go on where prompt and answer are longer than the model's context"},
    DecodeOption{
        "decoding_rule", &DecodeOptions::decoding_rule, kAsksForRule, kAny, Identity::kStored,
        "what the config does not say. A2D, required: mdlm (LLaDA's loop) or bd3lm (blocks over a cache). "
        "LLaDA2, required:\nllada2 or llada21 (edits tokens). Nemotron-Labs-Diffusion: diffusion (default) "
        "or "
        "autoregressive. Qwen2:\nautoregressive (default) or open_dcoder (masks, all tokens see each other)"},
    DecodeOption{"steps", &DecodeOptions::steps, kLlada | kDream | kBd3lm | kRnd1 | kOpenDcoder, kFromOne,
                 Identity::kStored, "denoising steps (default: as many as tokens)"},
    DecodeOption{"steps_per_block", &DecodeOptions::steps_per_block, kSdar | kNemotron | kLlada2, kFromOne,
                 Identity::kStored,
                 "SDAR, Nemotron, llada2: denoising steps of a block (default: as many as it has positions)"},
    DecodeOption{
        "block_length", &DecodeOptions::block_length, kLlada | kBlocks, kFromOne, Identity::kStored,
        "block size. LLaDA, mdlm: default one block. bd3lm, LLaDA2: 32. SDAR, Fast-dLLM v2, Nemotron: "
        "the config's"},
    DecodeOption{"sub_block_length", &DecodeOptions::sub_block_length, kFastDllm, kFromOne, Identity::kStored,
                 "Fast-dLLM v2: parts of a block that are decoded from left to right (default 8)"},
    DecodeOption{
        "algorithm", &DecodeOptions::algorithm, kLlada | kDream | kBd3lm | kSdar | kOpenDcoder, kAny,
        Identity::kStored,
        "order of unmasking. LLaDA, mdlm, bd3lm: low_confidence (default), random. Dream: origin "
        "(default),\nmaskgit_plus, topk_margin, entropy (the publisher's recipe). SDAR: "
        "low_confidence_dynamic (default),\nlow_confidence_static, sequential. open_dcoder: as Dream "
        "(default entropy), p2 (hides unsure tokens again)"},
    DecodeOption{
        "threshold", &DecodeOptions::threshold, kSdar | kFastDllm | kNemotron | kLlada2 | kLlada21,
        kNotNegative, Identity::kStored,
        "reveal every position that is surer than this. SDAR, dynamic: default 0.85. Fast-dLLM v2: "
        "0.9; 1 is one token\na forward. LLaDA2: 0.95. Nemotron: none by default; as sure is enough"},
    DecodeOption{
        "bidirectional_context", &DecodeOptions::bidirectional_context, kNemotron, kAny, Identity::kStored,
        "Nemotron, diffusion: the prompt and finished blocks see themselves as wholes; no token of a "
        "block is known before"},
    DecodeOption{
        "minimal_topk", &DecodeOptions::minimal_topk, kLlada2, kFromOne, Identity::kStored,
        "llada2: a block has at most so many steps as it takes to fill the answer with this many tokens "
        "each (default 1)"},
    DecodeOption{"editing_threshold", &DecodeOptions::editing_threshold, kLlada21, kNotNegative,
                 Identity::kStored,
                 "llada21: replace tokens where another one is surer than this (default 0.9)"},
    DecodeOption{"max_post_steps", &DecodeOptions::max_post_steps, kLlada21, kNotNegative, Identity::kStored,
                 "llada21: steps of a block behind its last mask, at most (default 16)"},
    DecodeOption{"num_to_transfer", &DecodeOptions::num_to_transfer, kLlada21, kFromOne, Identity::kStored,
                 "llada21: masks to fill in a step where fewer are sure enough (default 1)"},
    DecodeOption{"repeat_penalty", &DecodeOptions::repeat_penalty, kLlada21, kNotNegative, Identity::kStored,
                 "llada21: taken from the logit of the token before the position (default 0)"},
    DecodeOption{"eos_early_stop", &DecodeOptions::eos_early_stop, kLlada2 | kLlada21, kAny,
                 Identity::kStored,
                 "llada2: stop in the middle of a block, too. llada21: stop after a block with an end token"},
    DecodeOption{"entropy_bound", &DecodeOptions::entropy_bound, kRnd1, kNotNegative, Identity::kStored,
                 "RND1: reveal the positions whose entropies add up to at most this, beside the largest"},
    DecodeOption{"entropy_temperature", &DecodeOptions::entropy_temperature, kRnd1, kPositive,
                 Identity::kStored, "RND1, greedy: temperature of the entropies (default 1)"},
    DecodeOption{"schedule", &DecodeOptions::schedule, kLlada | kBd3lm, kAny, Identity::kStored,
                 "positions of each step: quota (default) or dllm, the dllm library's rounding"},
    DecodeOption{"shifted_rows", &DecodeOptions::shifted_rows, kBd3lm, kAny, Identity::kStored,
                 "bd3lm: row p - 1 of the logits is for position p"},
    DecodeOption{"block_cache", &DecodeOptions::block_cache, kFastDllm, kAny, Identity::kStored,
                 "Fast-dLLM v2: compute only the sub-block while its first token is known; an approximation"},
    DecodeOption{"alg_temp", &DecodeOptions::alg_temp, kDream | kOpenDcoder, kNotNegative, Identity::kStored,
                 "Dream, open_dcoder: randomness of the order (default 0)"},
    DecodeOption{"eps", &DecodeOptions::eps, kDream | kOpenDcoder, kInsideOne, Identity::kStored,
                 "Dream, open_dcoder: end of the time schedule (default 0.001)"},
    DecodeOption{"cfg_scale", &DecodeOptions::cfg_scale, kLlada | kBd3lm, kNotNegative, Identity::kStored,
                 "LLaDA, mdlm, bd3lm: classifier-free guidance (default 0)"},
    DecodeOption{"logits_eos_inf", &DecodeOptions::logits_eos_inf, kLlada, kAny, Identity::kStored,
                 "LLaDA: never write the end token"},
    DecodeOption{"confidence_eos_eot_inf", &DecodeOptions::confidence_eos_eot_inf, kLlada, kAny,
                 Identity::kStored, "LLaDA: reveal end tokens last"},
    DecodeOption{"top_p", &DecodeOptions::top_p, kFilters | kFastDllm, kProbability, Identity::kStored,
                 "keep the most probable tokens up to this mass (Fast-dLLM v2: default 0.95)"},
    DecodeOption{"top_k", &DecodeOptions::top_k, kFilters, kFromOne, Identity::kStored,
                 "keep this many of the most probable tokens"},
    DecodeOption{"repetition_penalty", &DecodeOptions::repetition_penalty, kAutoregressive, kPositive,
                 Identity::kStored, "penalise tokens already there"},
    DecodeOption{"mask_token", &DecodeOptions::mask_token, kDiffusion, kToken, Identity::kStored,
                 "mask token instead of the config's"},
    DecodeOption{"eos_tokens", &DecodeOptions::eos_tokens, kAll, kToken, Identity::kStored,
                 "end tokens instead of the config's, as in 1,2"},
    DecodeOption{"eot_token", &DecodeOptions::eot_token, kAll, kToken, Identity::kStored,
                 "end-of-turn token instead of the tokenizer's"},
};

const DecodeOption& find_option(std::string_view key);  // there must be one

// That of the rule where there are several; without a rule, the default's or those of all.
Loops loops_of(Family family, const DecodeOptions& options = {});

// UsageError for a word that is none of the schedules.
bool wants_dllm_schedule(const DecodeOptions& options);

// Whether the option has a value that was not there by default; plain numbers always have one.
bool is_given(const DecodeOption& option, const DecodeOptions& options);
void copy_option(const DecodeOption& option, const DecodeOptions& from, DecodeOptions& to);

// The options without those of other loops: for runs that compare models of several kinds.
DecodeOptions fitting(Family family, DecodeOptions options);

// UsageError for options of another family and values out of their bounds.
void check_options(const ModelConfig& config, const DecodeOptions& options);
// UsageError for a value out of the option's bounds.
void check_bounds(std::string_view key, double value);

}  // namespace buoy::decode

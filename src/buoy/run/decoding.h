#pragma once

#include <memory>
#include <optional>
#include <string>

#include "buoy/decode/step_machine.h"
#include "buoy/model/model.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::run {

// Decoding options as typed; what was not given keeps the family's default, and what does not belong to
// the family is refused rather than ignored.
struct DecodeOptions {
  std::int32_t max_new_tokens = 128;
  std::optional<std::int32_t> steps, block_length;
  std::optional<std::string> algorithm;
  double temperature = 0;
  std::optional<double> top_p;
  std::optional<std::int64_t> top_k;
  std::optional<double> alg_temp, eps, cfg_scale, repetition_penalty;
  bool logits_eos_inf = false, confidence_eos_eot_inf = false;
  std::vector<std::int32_t> eos_tokens;
  std::optional<std::int32_t> eot_token, mask_token;
  std::uint64_t seed = 0;
  bool allow_long = false;  // prompt and answer may be longer than the model's context
};

// UsageError for options that do not fit the model or each other, before a model is loaded.
void check_decoding(const ModelConfig& config, const DecodeOptions& options);

// UsageError for a prompt that leaves no room for the answer in the model's context, unless allowed.
// `cache`, of an autoregressive model, may hold a beginning of the prompt; nothing: an empty one.
std::unique_ptr<decode::StepMachine> make_machine(const model::Model& model, const DecodeOptions& options,
                                                  std::span<const std::int32_t> prompt,
                                                  const std::optional<text::Tokenizer>& tokenizer,
                                                  std::optional<model::KvCache> cache = std::nullopt);

// UsageError for options that no prompt could be decoded with: those of another family, values out of range.
void check_decoding(const ModelConfig& config, const DecodeOptions& options);

// The options without those of other kinds of models: for runs that compare models of several kinds.
DecodeOptions fitting(Family family, DecodeOptions options);

// Forwards that one answer takes at most.
std::uint64_t forwards_of(Family family, const DecodeOptions& options);

// Tokens at which the readable answer ends.
std::vector<std::int32_t> end_tokens(const model::Model& model, const DecodeOptions& options,
                                     const std::optional<text::Tokenizer>& tokenizer);

// The answer for a reader: everything before the first end token, special tokens left out.
std::string answer_text(const text::Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                        const std::vector<std::int32_t>& ends);

}  // namespace buoy::run

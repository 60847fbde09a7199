#pragma once

#include <memory>
#include <optional>
#include <string>

#include "buoy/decode/decoding_rule.h"
#include "buoy/decode/options.h"
#include "buoy/decode/step_machine.h"
#include "buoy/model/model.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::run {

using decode::DecodeOptions;
using decode::fitting;

// UsageError for a prompt that leaves no room for the answer in the model's context, unless allowed.
// `cache`, of an autoregressive model, may hold a beginning of the prompt; nothing: an empty one.
std::unique_ptr<decode::StepMachine> make_machine(const model::Model& model, const DecodeOptions& options,
                                                  std::span<const std::int32_t> prompt,
                                                  const std::optional<text::Tokenizer>& tokenizer,
                                                  std::optional<model::KvCache> cache = std::nullopt);

// UsageError for options that no prompt could be decoded with: those of another family, values out of range
// or that do not fit each other.
void check_decoding(const ModelConfig& config, const DecodeOptions& options);

// UsageError where the mask token of a model that may decode blocks is none of its tokenizer's: the same
// number is another token, or none, in the table of a sister model. One that was asked for is taken.
void check_mask_token(const ModelConfig& config, const DecodeOptions& options,
                      const std::optional<text::Tokenizer>& tokenizer);

// UsageError for runs of whose forwards nobody knows how many there are: those that decode blocks, unless one
// has run, among them.
void refuse_observing(const ModelConfig& config, const DecodeOptions& options);

// Forwards that one answer takes at most.
std::uint64_t forwards_of(Family family, const DecodeOptions& options);
// Numbers that forwards of one answer have, at most: those that changes name them by.
std::int64_t most_forwards(const ModelConfig& config, const DecodeOptions& options);

// Tokens at which the readable answer ends.
std::vector<std::int32_t> end_tokens(const ModelConfig& config, const DecodeOptions& options,
                                     const std::optional<text::Tokenizer>& tokenizer);

// The answer for a reader: everything before the first end token, special tokens left out.
std::string answer_text(const text::Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                        const std::vector<std::int32_t>& ends);
// Whether it holds an accepted answer: the authors' Acc, by their normalisation.
bool is_right(const std::string& answer, const std::vector<std::string>& accepted);

}  // namespace buoy::run

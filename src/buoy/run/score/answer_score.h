#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/probe/probe.h"
#include "buoy/run/decoding.h"
#include "buoy/tensor/context.h"

namespace buoy::run {

// A model of next tokens has one log-probability of an answer: each token given all before it. A
// masked-diffusion model has several, and which one is meant must be said.
enum class ScoreForm : std::uint8_t {
  kNextToken,
  kOneShot,  // all positions of the answer masked, every token at once
  kPath,     // each token when it is revealed, given those revealed before
};
enum class PathOrder : std::uint8_t {
  kLeftToRight,
  kDecoding,  // the decoding rule chooses positions, as sure as it is of its own tokens there
};

struct ScoreOptions {
  std::optional<ScoreForm> form;  // of masked diffusion; none: refused there
  PathOrder order = PathOrder::kLeftToRight;
  std::int64_t slots = 0;  // positions of the canvas; 0: as many as the answer has tokens
  DecodeOptions decode;    // its loop says how rows see each other, and the order of the decoding
};

// "one-shot", "path"; "left-to-right", "decoding". UsageError for another word.
ScoreForm score_form_of(const std::string& name);
PathOrder path_order_of(const std::string& name);
std::string_view name_of(ScoreForm form);

// The form that a model is scored by. UsageError where a masked model's is not said, where another model is
// given one, for decoding with draws or guidance, which has no log-probability of its own, and for options
// that the form has no use for.
ScoreForm settled_form(const ModelConfig& config, const ScoreOptions& options);
// Of that form, with the order of a path: "path decoding".
std::string name_of_form(const ModelConfig& config, const ScoreOptions& options);

struct AnswerScore {
  std::vector<double> log_probability;  // natural, of each token of the answer
  std::vector<std::int32_t> step;       // at which it was revealed, from 0; at once: all 0

  double sum() const;
};

// Natural, by the softmax of a row.
double log_probability_of(std::span<const float> logits, std::int32_t token);

// `probe`: who changes the model, by the forward's number. InputError for an answer without tokens, with more
// of them than the canvas has positions, or with the mask among them, and where the decoding ends before the
// answer does.
AnswerScore score_tokens(const Context& context, model::Model& model, const ScoreOptions& options,
                         std::span<const std::int32_t> prompt, std::span<const std::int32_t> answer,
                         probe::Probe* probe = nullptr);

}  // namespace buoy::run
